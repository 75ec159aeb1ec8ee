"""PyTorch's own tests of collectives, process groups and DDP: a sample, or with NAME_DISTRIBUTED=all all of them."""

import unittest

import torch
from built import NAME
from distributed_processes import BACKEND
from distributed_upstream import AsCuda, Processes, load_as, needs_devices, sampled
from torch.testing._internal.common_utils import instantiate_parametrized_tests

RANKS = 4
as_nccl, as_gloo = load_as("nccl", RANKS), load_as("gloo", RANKS)
pytestmark = needs_devices(RANKS)

ON_THE_CPU = "its group is for the device alone, and it uses tensors on the CPU"
OF_GLOO = "monitored_barrier() is Gloo's, through a Gloo group"
KNOWN = {
    "test_ddp_uneven_inputs": "asks each device for 2 GiB",
    "test_ddp_hook_parity_post_localSGD": "makes subgroups of the size that CUDA has by default",
    "test_monitored_barrier_allreduce_hang": "expects NCCL's words for a time-out",
    "test_monitored_barrier_allreduce_hang_wait_all_ranks": "expects NCCL's words for a time-out",
    "test_nccl_high_priority_stream": "options of ProcessGroupNCCL",
    "test_barrier": ON_THE_CPU,
    "test_barrier_full_group": ON_THE_CPU,
    "test_barrier_group": ON_THE_CPU,
    "test_barrier_timeout_full_group": "expects Gloo's words for a time-out",
    "test_barrier_timeout_global": "expects Gloo's words for a time-out",
    "test_barrier_timeout_group": "expects Gloo's words for a time-out",
    "test_ddp_logging_data_cpu": "expects DDP's log to say 'gloo'; it says 'custom' for all that PyTorch does not know",
    "test_monitored_barrier_gloo": OF_GLOO,
    "test_monitored_barrier_gloo_rank_0_timeout": OF_GLOO,
    "test_monitored_barrier_gloo_subgroup": OF_GLOO,
    "test_monitored_barrier_failure_order": OF_GLOO,
    "test_monitored_barrier_wait_all_ranks": OF_GLOO,
    "test_scatter_object_list": "compares tensors of two devices, as the objects of each rank have its own",
    "test_sparse_all_reduce_sum": "sparse tensors are Gloo's alone",
    "test_sparse_all_reduce_sum_cuda": "sparse tensors are Gloo's alone",
}


class Suite(Processes):
    world_size = RANKS
    environment = {
        "WORLD_SIZE": str(RANKS),
        "BACKEND": "mpi",  # of which PyTorch's tests say that four are enough where they want eight
        "TORCH_NCCL_DUMP_ON_TIMEOUT": "0",
        f"{NAME.upper()}_DEVICE_COUNT": str(RANKS),
    }


class TestAsNccl(Suite, as_nccl.TestDistBackend, as_nccl.DistributedTest._DistTestBase):
    @classmethod
    def _run(cls, *args, **kwargs):
        with AsCuda():
            super()._run(*args, **kwargs)


class TestAsGloo(Suite, as_gloo.TestDistBackend, as_gloo.DistributedTest._DistTestBase):
    """Tests for CPU tensors, with tensors on the device. A Work of Gloo is over after a wait."""

    environment = {**Suite.environment, f"{BACKEND.upper()}_BLOCKING_WAIT": "1"}

    @classmethod
    def _run(cls, rank, *args, **kwargs):
        torch.set_default_device(torch.device(NAME, rank))
        with AsCuda():
            super()._run(rank, *args, **kwargs)


def _is_skipped(test):
    return getattr(test, "__unittest_skip__", False)


def _choose(cls, wanted):
    """Of the tests of a class only those; the known ones are skipped with their reason."""
    instantiate_parametrized_tests(cls)
    for name in [name for name in dir(cls) if name.startswith("test_")]:
        test = getattr(cls, name)
        if name == "test_ddp_has_finalized":
            continue  # setUp() looks at it
        if not wanted(name) or not sampled(name, 8):
            setattr(cls, name, None)
        elif name in KNOWN:
            setattr(cls, name, unittest.skip(KNOWN[name])(test))


_choose(TestAsGloo, lambda name: _is_skipped(getattr(TestAsNccl, name, None)))
_choose(TestAsNccl, lambda name: True)
