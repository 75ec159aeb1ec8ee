# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
"""Operators without a kernel: what runs on the CPU and how, and what is refused."""

import glob
import json
import os
import subprocess
import sys
import threading

import pytest
import torch

from torch_openreg.testing.spec import OPERATORS

NAME = "openreg"
VARIABLE = "OPENREG_FALLBACK"
KIND = os.environ.get(VARIABLE) or "cpu"
api = torch.get_device_module(NAME)
kernels = torch._C._dispatch_has_kernel_for_dispatch_key

runs = pytest.mark.skipif(KIND == "none", reason="nothing falls back; test_each_way_to_the_memory runs them")


def falls_back(op: str) -> bool:
    """Whether the backend has no kernel of its own for the operator."""
    return not kernels(op, "PrivateUse1")


def equal(actual, expected) -> None:
    torch.testing.assert_close(actual, expected, check_device=False)


CALLS = {
    "new result": lambda x: x.bincount(minlength=9),
    "several results": lambda x: tuple(x.float().view(3, 4).kthvalue(2, dim=1)),
    "not contiguous": lambda x: x.view(3, 4).t()[1:].float().histc(4, 0, 6),
    "conjugated": lambda x: torch.complex(x.double(), -x.double()).conj().cumsum(0),
    "negated": lambda x: torch.complex(x.double(), -x.double()).conj().imag.cumsum(0),
    "optional list": lambda x: torch.ops.aten._index_put_impl_(x.clone(), [x[:2]], x[3:5], True),
    "list": lambda x: torch.ops.aten._foreach_norm([x.float(), x.double()], 1),
    "number": lambda x: torch.searchsorted(x.sort().values, 3),
    "0-dim on the host": lambda x: torch.logaddexp(x.double(), torch.tensor(2.0, dtype=torch.float64)),
    "empty": lambda x: x[:0].bincount(),
    "0-dim": lambda x: torch.tensor(2.0, device=x.device).kthvalue(1).values,
    "complex result": lambda x: torch.geqrf(x.double().view(3, 4)),
    "bool": lambda x: torch.ops.aten.equal(x, x.clone()),
    "mask": lambda x: x.masked_select(x > 2),
    "mask that is broadcast": lambda x: x.view(3, 4).masked_select(x[:4] > 1),
    "index on the host": lambda x: x[torch.tensor([2, 0])],
}


@runs
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_values(device, call):
    if call is CALLS["0-dim on the host"] and not falls_back("aten::logaddexp.out"):
        pytest.skip("the spec gives logaddexp a kernel, and PyTorch's own takes tensors of one device only")
    x = torch.tensor([3, 1, 2, 0, 5, 4, 6, 1, 0, 2, 2, 3])
    actual, expected = call(x.to(device)), call(x)
    for result in actual if isinstance(actual, tuple | list) else [actual]:
        assert not isinstance(result, torch.Tensor) or result.device == device
    equal(actual, expected)


@runs
def test_in_place_and_out(device):
    host = torch.arange(12.0).view(3, 4)
    x = host.to(device)
    column = x[:, 1]
    result = column.put_(torch.tensor([0, 2], device=device), torch.tensor([7.0, 8.0], device=device))
    host[:, 1].put_(torch.tensor([0, 2]), torch.tensor([7.0, 8.0]))
    assert result is column
    equal(x, host)
    out = torch.empty(0, device=device)
    assert torch.cumsum(x, 0, out=out) is out
    equal(out, host.cumsum(0))
    strided = torch.empty(4, 3, device=device).t()
    torch.cumsum(x, 0, out=strided)
    assert strided.stride() == (1, 3)
    equal(strided, host.cumsum(0))
    torch.cumsum(x, 0, out=x)
    equal(x, host.cumsum(0))


@runs
@pytest.mark.skipif(not falls_back("aten::take.out"), reason="the spec gives take a kernel")
def test_a_resized_output_warns_as_on_the_cpu(device):
    x = torch.ones(4, 3, device=device)
    out = torch.ones(2, device=device)
    with pytest.warns(UserWarning, match="was resized"):
        torch.take(x, torch.tensor([[0, 1, 2]], device=device), out=out)
    assert out.shape == (1, 3)
    equal(out, torch.ones(1, 3))


@runs
def test_errors_are_those_of_the_cpu(device):
    with pytest.raises(RuntimeError, match="bincount only supports 1-d"):
        torch.ones(2, 2, dtype=torch.int64, device=device).bincount()
    api.synchronize()  # and the device is as good as before
    equal(torch.ones(2, device=device) + 1, torch.full((2,), 2.0))


@runs
@pytest.mark.skipif(not falls_back("aten::take"), reason="the spec gives take a kernel")
def test_tensors_on_several_devices(device, other):
    index = torch.tensor([0, 1])
    for x, y in ((device, "cpu"), ("cpu", device), (device, other)):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            torch.take(torch.ones(3, device=x), index.to(y))
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.take(torch.ones(3, device=device), index.to(device), out=torch.empty(2))


@runs
def test_runs_on_the_device_of_its_arguments(device, other):
    x = torch.tensor([1, 1, 3], device=other)
    stream = torch.Stream(device=other)
    with stream:
        result = x.bincount()
    stream.synchronize()
    assert result.device == other
    assert api.current_device() == device.index
    equal(result, torch.tensor([0, 2, 0, 1]))


@runs
def test_factories(device):
    equal(torch.tril_indices(3, 3, device=device), torch.tril_indices(3, 3))
    assert torch.tril_indices(3, 3, device=device).device == device
    equal(torch.linspace(0, 1, 5, device=device), torch.linspace(0, 1, 5))
    equal(torch.eye(3, device=device), torch.eye(3))


@runs
def test_only_indices_and_lengths_may_be_on_the_host(device):
    x, index = torch.zeros(4, device=device), torch.tensor([0, 2])
    equal(x[index], torch.zeros(2))
    x[index] = torch.tensor(3.0)
    equal(x, torch.tensor([3.0, 0, 3, 0]))
    for where in ("cpu", device):
        for put in (torch.index_put, torch.Tensor.index_put_, torch.ops.aten._unsafe_index_put):
            with pytest.raises(RuntimeError, match="same device"):
                put(x, [index.to(where)], torch.ones(2))
            with pytest.raises((RuntimeError, IndexError), match="same device"):
                put(torch.zeros(4), [index.to(device)], torch.ones(2, device=device))
    equal(x, torch.tensor([3.0, 0, 3, 0]))
    lengths = torch.tensor([5, 5]), torch.tensor([2, 2])
    log_probs, targets = torch.zeros(5, 2, 4, device=device), torch.ones(2, 2, dtype=torch.long)
    torch.ops.aten._ctc_loss(log_probs, targets.to(device), *lengths)
    with pytest.raises(RuntimeError, match="same device"):
        torch.ops.aten._ctc_loss(log_probs, targets, *lengths)


@runs
def test_random_numbers_come_from_the_devices_generator(device):
    weights = torch.ones(4, device=device)
    draws = (
        lambda g: weights.multinomial(1000, replacement=True, generator=g),
        lambda g: torch.empty(50, device=device).exponential_(generator=g),
        lambda g: torch.randperm(50, device=device, generator=g),
        lambda g: torch.bernoulli(torch.full((50,), 0.5, device=device), generator=g),
    )
    for draw in draws:
        api.manual_seed(5)
        host = torch.get_rng_state()
        first, second = draw(None), draw(None)
        assert not torch.equal(first, second)
        assert torch.equal(torch.get_rng_state(), host)  # the CPU's was not asked
        api.manual_seed(5)
        assert torch.equal(draw(None), first)
        assert torch.equal(draw(None), second)
        generator = torch.Generator(device=device).manual_seed(5)
        assert torch.equal(draw(generator), first)


@pytest.fixture(scope="module")
def library():
    """Operators that only the CPU has, or nobody."""
    library = torch.library.Library("fallback_test_openreg", "DEF")
    library.define("tail(Tensor(a) x) -> Tensor(a)")
    library.define("nobody(Tensor x) -> Tensor")
    library.impl("tail", lambda x: x[1:], "CPU")
    yield torch.ops.fallback_test_openreg
    library._destroy()


@runs
def test_views_are_views(device, library):
    x = torch.arange(4.0, device=device)
    view = library.tail(x)
    assert view.device == device
    view.fill_(7)
    equal(x, torch.tensor([0.0, 7, 7, 7]))


@runs
def test_without_a_cpu_kernel(device, library):
    why = "the CPU has none to fall back to.*openreg.yaml"
    with pytest.raises(NotImplementedError, match=why):
        library.nobody(torch.ones(2, device=device))


@runs
def test_gradients(device):
    x = torch.tensor([-4.0, -1, 0, 2], device=device, requires_grad=True)
    y = x.detach().cpu().requires_grad_()
    for tensor in (x, y):
        torch.nn.functional.hardswish(tensor.clone()).cumsum(0).sum().backward()
    equal(x.grad, y.grad)


@runs
def test_threads(device):
    failures = []

    def work(seed: int) -> None:
        try:
            with torch.Stream(device=device):
                host = torch.arange(seed, seed + 20) % 7
                x = host.to(device)
                for _ in range(20):
                    equal(x.bincount(minlength=8), host.bincount(minlength=8))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.mark.skipif(VARIABLE in os.environ, reason="the tests of another kind")
@pytest.mark.parametrize("kind", ["copy", "alias"])
def test_each_way_to_the_memory(device, kind):
    files = sorted(glob.glob(os.path.join(os.path.dirname(__file__), "test_fallback*.py")))
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", *files, **{VARIABLE: kind})
    assert done.returncode == 0, done.stdout + done.stderr


USE = """
import torch, torch_openreg
torch.tensor([1, 2], device="openreg").bincount()
torch.tensor([1, 2], device="openreg").bincount()
"""


def test_none_names_what_to_add(device):
    if not falls_back("aten::bincount"):
        pytest.skip("bincount has a kernel")
    done = run("-c", USE, **{VARIABLE: "none"})
    assert done.returncode == 1
    assert "NotImplementedError: aten::bincount has no kernel" in done.stderr
    assert "`ops:` in openreg.yaml, such as `bincount: native`" in done.stderr


# On each line an operator, as the spec names it, and a call of it.
COMPUTES = {
    "exp.out": "x.exp()",
    "abs.out": "x.abs()",
    "relu": "x.relu()",
    "maximum.out": "torch.maximum(x, x)",
    "hypot.out": "torch.hypot(x, x)",
    "amax.out": "x.amax(0)",
    "mm.out": "x @ x",
    "convolution_overrideable": "torch.nn.functional.conv2d(x[None, None], x[None, None])",
    "bincount": "torch.ones(3, dtype=torch.int64, device=x.device).bincount()",
}
WITHOUT = """
import json, sys, torch, torch_openreg
x = torch.ones(4, 4, device="openreg")
x.t().contiguous(), x.clone(), x.to(torch.float64), x.cpu(), x[0, 0].item(), torch.zeros_like(x)
x[:, 1] = 2.0
refused = {}
for op, call in json.loads(sys.argv[1]).items():
    try:
        eval(call)
    except NotImplementedError as error:
        refused[op] = str(error)
print(json.dumps(refused))
"""


def test_none_refuses_what_the_host_computes(device):
    """Operators without a kernel and, where the host can't run functions on device memory, kernels that run on copies."""
    done = run("-c", WITHOUT, json.dumps(COMPUTES), **{VARIABLE: "none"})
    assert done.returncode == 0, done.stderr
    refused = json.loads(done.stdout)
    assert refused.keys() >= {op for op in COMPUTES if falls_back(f"aten::{op}")}
    on_host = {op for op, message in refused.items() if "is computed on the host" in message}
    for op in on_host:
        assert refused[op].startswith(f"aten::{op} is computed on the host, on copies of its arguments")
        assert f"{VARIABLE} is none" in refused[op]
        assert "csrc/aten/native" in refused[op] or "of the device's API" in refused[op]
    if api.get_device_properties(device).host_accessible:
        assert not on_host
    else:
        kinds = {"in_tree", "pointwise", "reduction"}
        assert on_host >= {operator.name for operator in OPERATORS if operator.strategy in kinds} & COMPUTES.keys()


def test_a_bad_word_is_an_error(device):
    if not falls_back("aten::bincount"):
        pytest.skip("bincount has a kernel")
    done = run("-c", USE, **{VARIABLE: "gpu"})
    assert done.returncode == 1
    assert f"ValueError: {VARIABLE} is 'gpu'; it takes none, cpu, copy or alias" in done.stderr


def test_warns_once(device):
    if not falls_back("aten::bincount"):
        pytest.skip("bincount has a kernel")
    said = "aten::bincount has no kernel"
    env = {VARIABLE: "cpu", "OPENREG_LOG_FALLBACK": "1"}
    assert run("-c", USE, **env).stderr.count(said) == 1
    assert run("-c", USE, **{**env, "OPENREG_LOG_FALLBACK": "0"}).stderr.count(said) == 0
