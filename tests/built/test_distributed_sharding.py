"""DTensor and FSDP by PyTorch's own classes for their tests: a sample, or with NAME_DISTRIBUTED=all all of them."""

import itertools

import torch
import torch.distributed as dist
from built import NAME
from distributed_processes import BACKEND
from distributed_upstream import ALL, Processes, needs_devices, sampled
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffload, MixedPrecision, ShardingStrategy
from torch.distributed.tensor import DTensor
from torch.testing._internal import common_fsdp
from torch.testing._internal.common_distributed import MultiProcessTestCase
from torch.testing._internal.common_fsdp import DEVICEInitMode, FSDPInitMode
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import instantiate_parametrized_tests, parametrize
from torch.testing._internal.distributed._tensor.common_dtensor import DTensorConverter
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

RANKS = 2
common_fsdp.DEVICE_TYPE, common_fsdp.DEVICE_COUNT, common_fsdp.DISTRIBUTED_BACKEND = NAME, RANKS, BACKEND
pytestmark = needs_devices(RANKS)

PARTS = 8
OTHERWISE = {
    "native_batch_norm": "in evaluation the CPU alone returns empty statistics, as PyTorch's decomposition says",
    "_native_batch_norm_legit": "as native_batch_norm",
    "as_strided.partial_views": "a DTensor has no storage around it",
    "short": "Gloo adds no int16; here they are converted",
    "tensor_split": "a tensor of indices stays on the CPU",
}
INFOS = [
    info
    for info in op_db
    if torch.float32 in info.dtypes
    and info.full_name not in OTHERWISE
    and not info.name.startswith("jiterator")
    and "sparse" not in info.name
    and "empty" not in info.name  # which holds anything
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
        compared, wrong = 0, []
        for info in INFOS[part::PARTS]:
            for sample in itertools.islice(info.sample_inputs("cpu", torch.float32), 3):
                args = (sample.input, *sample.args), sample.kwargs
                if not is_random(info, *args):
                    expected, found = (outcomes(info, mesh, *args) for mesh in meshes)
                    compared += len(found)
                    try:
                        self.assertEqual(found, expected)
                    except AssertionError as error:
                        wrong.append(f"{info.full_name} {sample}: {error}")
        if wrong:
            self.fail("\n\n".join(wrong))
        self.assertGreater(compared, 0)


def outcomes(info, mesh, args, kwargs):
    """The results or errors of an operator for up to 16 layouts of its arguments."""
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


class Drawn(TorchDispatchMode):
    """Whether anything that ran depends on random numbers."""

    found = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.found = self.found or torch.Tag.nondeterministic_seeded in func.tags
        return func(*args, **(kwargs or {}))


def is_random(info, args, kwargs):
    args, kwargs = tree_map(lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, (args, kwargs))
    with Drawn() as drawn:
        info.op(*args, **kwargs)
    return drawn.found


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
        if model is common_fsdp.NonUniformReqGradNWM and strategy is ShardingStrategy.NO_SHARD and not offload:
            self.skipTest("a root of frozen parameters, which are not sharded, is not in PyTorch's state_dict")
        # Experts are each rank's own, so DDP would average what FSDP must not.
        reference = common_fsdp.DummyDDP if model is common_fsdp.MixtureOfExperts else None
        # Parameters of which some are frozen do not fit into one that is flat.
        orig = model is common_fsdp.NonUniformReqGradNWM
        self.parity(
            model,
            cpu_offload=CPUOffload(offload),
            sharding_strategy=strategy,
            ref_init_fn=reference,
            use_orig_params=orig,
        )

    @parametrize("orig", [False, True] if ALL else [True])
    @parametrize("dtype", [torch.float16, torch.bfloat16] if ALL else [torch.float16])
    def test_mixed_precision(self, orig, dtype):
        precision = MixedPrecision(param_dtype=dtype, reduce_dtype=dtype, buffer_dtype=dtype)
        self.parity(place=DEVICEInitMode.DEVICE_AFTER, mixed_precision=precision, use_orig_params=orig)

    def test_scaled(self):
        self.parity(enable_sharded_grad_scaler=True, mixed_precision=MixedPrecision(param_dtype=torch.float16))


instantiate_parametrized_tests(TestDTensor)
instantiate_parametrized_tests(TestFsdp)
