# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
"""DTensor and FSDP on openreg by PyTorch's own classes for their tests: a sample, or with OPENREG_DISTRIBUTED=all all of them."""

import itertools
from unittest import mock

import torch
import torch.distributed as dist
from distributed_processes import BACKEND, NAME
from distributed_upstream import ALL, Processes, sampled
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffload, MixedPrecision, ShardingStrategy
from torch.distributed.tensor import DTensor
from torch.testing._internal import common_fsdp
from torch.testing._internal.common_distributed import MultiProcessTestCase
from torch.testing._internal.common_fsdp import DEVICEInitMode, FSDPInitMode
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import instantiate_parametrized_tests, parametrize
from torch.testing._internal.distributed._tensor.common_dtensor import DTensorConverter
from torch.utils._pytree import tree_flatten, tree_map

RANKS = 2
common_fsdp.DEVICE_TYPE, common_fsdp.DEVICE_COUNT, common_fsdp.DISTRIBUTED_BACKEND = NAME, RANKS, BACKEND

PARTS = 8
OTHERWISE = {
    "native_batch_norm": "in evaluation the CPU alone returns empty statistics, as PyTorch's decomposition says",
    "tensor_split": "a tensor of indices stays on the CPU",
}
INFOS = [
    info
    for info in op_db
    if torch.float32 in info.dtypes
    and info.name not in OTHERWISE
    and not info.name.startswith("jiterator")
    and "sparse" not in info.name
    and sampled(info.name, 16)
]


class TestDTensor(Processes, MultiProcessTestCase):
    """Operators of DTensors do on the device what they do on the CPU, however their arguments are laid out."""

    world_size = RANKS

    @parametrize("part", range(PARTS))
    def test_operators(self, part):
        where = {"init_method": f"file://{self.file_name}", "rank": self.rank, "world_size": RANKS}
        dist.init_process_group(f"cpu:gloo,{NAME}:{BACKEND}", **where)
        meshes = [init_device_mesh(kind, (RANKS,)) for kind in ("cpu", NAME)]
        compared = 0
        for info in INFOS[part::PARTS]:
            for sample in itertools.islice(info.sample_inputs("cpu", torch.float32), 3):
                args = (sample.input, *sample.args), sample.kwargs
                if not is_random(info, *args):
                    expected, found = (outcomes(info, mesh, *args) for mesh in meshes)
                    self.assertEqual(
                        found, expected, msg=lambda text, info=info, sample=sample: f"{info.full_name} {sample}: {text}"
                    )
                    compared += len(found)
        self.assertGreater(compared, 0)


def outcomes(info, mesh, args, kwargs):
    """What an operator returns, or raises, for up to 16 layouts of its arguments."""
    args, kwargs = tree_map(lambda x: x.to(mesh.device_type) if isinstance(x, torch.Tensor) else x, (args, kwargs))
    converted = DTensorConverter(mesh, args, kwargs)
    found = []
    for args, kwargs in itertools.islice(converted, 16):
        if converted.successful():
            try:
                found.append(tree_map(whole, info.op(*args, **kwargs)))
            except Exception as error:  # noqa: BLE001  (whatever it is, the CPU must raise it too)
                found.append(type(error).__name__)
    return found


def whole(x):
    x = x.full_tensor() if isinstance(x, DTensor) else x
    return x.detach().cpu() if isinstance(x, torch.Tensor) else x


def is_random(info, args, kwargs):
    """Whether it gives something else with another seed, those that its function sets included."""
    plain, found = torch.manual_seed, []
    for seed in range(2):
        with mock.patch.object(torch, "manual_seed", lambda value, seed=seed: plain(value + seed)):
            torch.manual_seed(0)
            cloned = tree_map(lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, (args, kwargs))
            found.append([x for x in tree_flatten(info.op(*cloned[0], **cloned[1]))[0] if isinstance(x, torch.Tensor)])
    return not all(
        torch.allclose(x, y, equal_nan=True) for x, y in zip(*found, strict=True) if x.layout == torch.strided
    )


NESTED = common_fsdp.NestedWrappedModule
MODELS = (
    common_fsdp.TransformerWithSharedParams,
    NESTED,
    common_fsdp.AlwaysWrapNestedWrappedModule,
    common_fsdp.NonUniformReqGradNWM,
    common_fsdp.MixtureOfExperts,
)
STRATEGIES = (ShardingStrategy.FULL_SHARD, ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy.NO_SHARD)


class TestFsdp(Processes, common_fsdp.FSDPTest):
    """FSDP trains as DDP does."""

    world_size = RANKS

    def parity(self, model=NESTED, place=DEVICEInitMode.DEVICE_BEFORE, **settings):
        self._test_fsdp_parity(model, FSDPInitMode.RECURSIVE, place, **settings)

    @parametrize("model", MODELS if ALL else MODELS[:1])
    @parametrize("strategy", STRATEGIES if ALL else STRATEGIES[:1])
    @parametrize("offload", [False, True])
    def test_parity(self, model, strategy, offload):
        self.parity(model, cpu_offload=CPUOffload(offload), sharding_strategy=strategy)

    @parametrize("orig", [False, True] if ALL else [True])
    @parametrize("dtype", [torch.float16, torch.bfloat16] if ALL else [torch.float16])
    def test_mixed_precision(self, orig, dtype):
        precision = MixedPrecision(param_dtype=dtype, reduce_dtype=dtype, buffer_dtype=dtype)
        self.parity(place=DEVICEInitMode.DEVICE_AFTER, mixed_precision=precision, use_orig_params=orig)

    def test_scaled(self):
        self.parity(enable_sharded_grad_scaler=True, mixed_precision=MixedPrecision(param_dtype=torch.float16))


instantiate_parametrized_tests(TestDTensor)
instantiate_parametrized_tests(TestFsdp)
