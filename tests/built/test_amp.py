"""Autocast: one operator of each policy in each dtype, what is registered, and what contexts do."""

import copy
import itertools
import re

import pytest
import torch
from built import NAME, ROOT
from torch.testing._internal.autocast_test_lists import AutocastTestLists

SOURCE = ROOT / "csrc/amp/Autocast.cpp"
if not SOURCE.exists():
    pytest.skip("the tree has no component amp", allow_module_level=True)
DTYPES = torch.get_device_module(NAME).get_amp_supported_dtype()
# Operators by policy, as registered.
RULES: dict[str, list[str]] = {}
for line in SOURCE.read_text(encoding="utf-8").splitlines():
    if plain := re.fullmatch(r"  KERNEL_PRIVATEUSEONE\((.*), (\w+)\)", line):
        RULES.setdefault(plain[2], []).append(plain[1].replace(", ", "."))
    elif other := re.fullmatch(r'  KERNEL_DIFFERENT\w+\(.*?"(.*?)", .*, (\w+)\)', line):
        RULES.setdefault(other[2], []).append(other[1])
    elif banned := re.fullmatch(r'  m.impl\("(.*)", TORCH_FN\(\w+_banned\)\);', line):
        RULES.setdefault("banned", []).append(banned[1])
HALVES = pytest.mark.parametrize("dtype", DTYPES, ids=str)


@pytest.fixture
def x(device):
    return torch.rand(4, 4, generator=torch.Generator().manual_seed(0)).to(device)


@pytest.mark.no_device
def test_policies():
    assert set(RULES) == {"lower_precision_fp", "fp32", "fp32_set_opt_dtype", "fp32_append_dtype", "promote", "banned"}


def needs(policy, op):
    if op not in RULES.get(policy, ()):
        pytest.skip(f"the spec gives {op} no rule {policy}")


@pytest.mark.parametrize(("policy", "op"), [(policy, op) for policy, ops in RULES.items() for op in ops])
def test_registered(policy, op):
    assert torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{op}", "AutocastPrivateUse1")


def test_supported_dtypes():
    supported = torch.get_device_module(NAME).get_amp_supported_dtype()
    assert set(supported) == {torch.float16, torch.bfloat16}


def test_other_dtypes_turn_autocast_off(x):
    with pytest.warns(UserWarning), torch.autocast(NAME, dtype=torch.float64):
        assert not torch.is_autocast_enabled(NAME)


@HALVES
def test_inputs_of_several_dtypes(x, dtype):
    needs("lower_precision_fp", "mm")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.mm(x, x.to(dtype)).dtype == dtype
        assert torch.mm(x.to(dtype), x.to(dtype)).dtype == dtype
        assert torch.mm(x.double(), x.double()).dtype == torch.float64  # nothing is cast from there


def test_the_dtype_that_is_set(x):
    needs("lower_precision_fp", "mm")
    before = torch.get_autocast_dtype(NAME)
    assert before in DTYPES
    for dtype in DTYPES:
        torch.set_autocast_dtype(NAME, dtype)
        try:
            with torch.autocast(NAME):
                assert torch.mm(x, x).dtype == torch.get_autocast_dtype(NAME) == dtype
        finally:
            torch.set_autocast_dtype(NAME, before)


def test_contexts_nest(x):
    needs("lower_precision_fp", "mm")

    def state():
        return torch.is_autocast_enabled(NAME), torch.get_autocast_dtype(NAME)

    outside = state()
    with torch.autocast(NAME, dtype=DTYPES[0]):
        with torch.autocast(NAME, enabled=False):
            assert not torch.is_autocast_enabled(NAME)
            with torch.autocast(NAME, dtype=DTYPES[-1]):
                assert torch.mm(x, x).dtype == DTYPES[-1]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.mm(x.cpu(), x.cpu()).dtype == torch.bfloat16
        assert state() == (True, DTYPES[0])
        assert torch.mm(x, x).dtype == DTYPES[0]
    assert state() == outside


@pytest.mark.parametrize("cached", [True, False])
def test_casts_of_weights_are_cached(x, cached):
    needs("lower_precision_fp", "mm")
    weight = torch.ones(4, 4, device=x.device, requires_grad=True)
    with torch.autocast(NAME, cache_enabled=cached):
        first = torch.mm(x, weight)
        weight.data.zero_()  # autograd does not see it, and the cache neither
        second = torch.mm(x, weight)
    assert torch.equal(first.cpu(), second.cpu()) == cached


@HALVES
def test_fp32(x, dtype):
    needs("fp32", "exp")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.exp(x.to(dtype)).dtype == torch.float32
        assert torch.exp(x).dtype == torch.float32


@HALVES
def test_fp32_set_opt_dtype(x, dtype):
    needs("fp32_set_opt_dtype", "sum")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.sum(x.to(dtype)).dtype == torch.float32
        assert torch.sum(x.to(dtype), dtype=torch.float64).dtype == torch.float64


@HALVES
def test_fp32_append_dtype(x, dtype):
    needs("fp32_append_dtype", "norm.Scalar")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.ops.aten.norm.Scalar(x.to(dtype), 2).dtype == torch.float32


@HALVES
def test_promote(x, dtype):
    needs("promote", "addcmul")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.addcmul(x, x.to(dtype), x).dtype == torch.float32
        assert torch.addcmul(x.to(dtype), x.to(dtype), x.to(dtype)).dtype == dtype


def test_banned(x):
    """In the words of CUDA's rule, which takes tensors of any device."""
    needs("banned", "binary_cross_entropy")
    cuda = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)
    with pytest.raises(RuntimeError) as expected:
        torch.ops.aten.binary_cross_entropy.default.redispatch(cuda, torch.rand(2), torch.rand(2))
    layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Sigmoid()).to(x.device)
    with torch.autocast(NAME):
        with pytest.raises(RuntimeError) as found:
            torch.nn.functional.binary_cross_entropy(layer(x), x)
        with torch.autocast(NAME, enabled=False):
            torch.nn.functional.binary_cross_entropy(layer(x), x)
    assert str(found.value) == str(expected.value)
    torch.nn.functional.binary_cross_entropy(layer(x), x)


@HALVES
def test_gradients_have_the_parameters_dtype(x, dtype):
    layer = torch.nn.Linear(4, 2).to(x.device)
    with torch.autocast(NAME, dtype=dtype):
        loss = layer(x).float().square().mean()
    loss.backward()
    assert layer.weight.grad.dtype == torch.float32


@HALVES
def test_no_rule_no_cast(x, dtype):
    with torch.autocast(NAME, dtype=dtype):
        assert (x + x).dtype == torch.float32
        assert (x.to(dtype) + x.to(dtype)).dtype == dtype


@HALVES
def test_what_the_default_spec_adds(x, dtype):
    """linalg.inv refuses both dtypes, on CUDA too."""
    needs("fp32", "linalg_inv")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.linalg.inv(torch.mm(x, x) + torch.eye(4, device=x.device)).dtype == torch.float32
        assert torch.inverse(torch.eye(4, device=x.device, dtype=dtype)).dtype == torch.float32


def test_outside_nothing_changes(x):
    assert torch.mm(x, x).dtype == torch.float32
    assert torch.mm(x.half(), x.half()).dtype == torch.float16


# PyTorch's lists for CUDA, with arguments, and the dtype of the results.
LISTS = {"fp16": torch.float16, "fp32": torch.float32, "need_autocast_promote": torch.float32}


def test_operators_of_pytorchs_lists(device):
    """The default spec removes one operator, which behaves the same: the operator that it calls has a rule."""
    needs("lower_precision_fp", "mm")
    lists, faults, count = vars(AutocastTestLists(NAME)), [], 0
    for (group, cases), (kind, dtype) in itertools.product(lists.items(), LISTS.items()):
        if group.removeprefix("torch_").removeprefix("nn_").removeprefix("linalg_") != kind:
            continue
        for name, args, *more in cases:
            if name.startswith("cudnn") or isinstance(args, str):  # einsum's arguments are not even CUDA's tests'
                continue
            homes = (torch, torch._C._nn, torch._C._linalg)
            function = next(getattr(home, name) for home in homes if hasattr(home, name))
            count += 1
            try:
                with torch.autocast(NAME, dtype=torch.float16):
                    result = function(*args, **(more[0] if more and isinstance(more[0], dict) else {}))
            except Exception as error:
                faults.append((name, str(error).splitlines()[0]))
            else:
                first = result[0] if isinstance(result, tuple) else result
                faults += [(name, first.dtype)] if first.dtype != dtype else []
    assert count > 80
    assert faults == []


def test_linear_layers_with_each_activation(device):
    kinds = [kind for kind in vars(torch.nn.modules.activation).values() if isinstance(kind, type)]
    kinds = [kind for kind in kinds if issubclass(kind, torch.nn.Module) and kind.__module__.endswith("activation")]
    arguments = {"Threshold": (0.1, 0), "Softmax": (1,), "Softmin": (1,), "LogSoftmax": (1,)}
    faults = []
    for kind in kinds:
        if kind.__name__ in ("MultiheadAttention", "Softmax2d", "RReLU"):  # no activation of a linear layer; random
            continue
        torch.manual_seed(0)
        host = torch.nn.Sequential(torch.nn.Linear(4, 4), kind(*arguments.get(kind.__name__, ())))
        x = torch.rand(3, 4)
        expected = host(x)
        expected.sum().backward()
        layers = copy.deepcopy(host).to(device)
        layers.zero_grad()
        try:
            with torch.autocast(NAME, dtype=torch.float16):
                result = layers(x.to(device))
            result.sum().backward()
            torch.testing.assert_close(result.float().cpu(), expected, rtol=1e-2, atol=1e-2)
            for there, here in zip(layers.parameters(), host.parameters(), strict=True):
                torch.testing.assert_close(there.grad.cpu(), here.grad, rtol=5e-2, atol=5e-2)
        except Exception as error:
            faults.append((kind.__name__, str(error).splitlines()[0]))
    assert len(kinds) > 25
    assert faults == []
