# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""torch.compile on the device: what is generated, where it runs, what it reports."""

import os
import re
import subprocess
import sys
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.testing import CompileCounter
from torch._inductor.utils import run_and_get_code

NAME = "openreg"
api = torch.get_device_module(NAME)


@pytest.fixture(autouse=True)
def _forget(request):
    if {"device", "other"} & set(request.fixturenames) and not api.get_device_properties().host_accessible:
        pytest.skip("functions launched on the device do not reach its memory")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def python(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def code_of(function, *arguments):
    """The result, and the generated Python with the C++ in it."""
    result, codes = run_and_get_code(torch.compile(function, fullgraph=True), *arguments)
    return result, "\n".join(codes)


@pytest.mark.no_device
def test_importing_the_backend_imports_no_compiler():
    done = python(
        "import sys, torch_openreg\n"
        "print([m for m in sys.modules if m.startswith(('torch._dynamo', 'torch._inductor', 'torch_openreg._inductor.'))])"
    )
    assert done.stdout == "[]\n", done.stderr + done.stdout


def test_one_fused_kernel_is_launched(device):
    def function(x, y):
        return torch.softmax(torch.relu(x) + y, -1) * 2

    x, y = torch.randn(2, 16, 64)
    result, code = code_of(function, x.to(device), y.to(device))
    torch.testing.assert_close(result.cpu(), function(x, y))
    pattern = r"^openreg_fused\w* = openreg_compile.kernel"
    assert len(re.findall(pattern, code, re.M)) == 1, code
    assert re.search(r"^\s+openreg_fused\w+\(0, ", code, re.M), "it is launched on device 0"
    assert "cpp_pybinding" not in code


def test_everything_is_on_the_other_device(other):
    """With device 0 current: buffers, kernels and results are on the device of the arguments."""

    def function(x, w):
        return torch.tanh(x @ w + 1).mean(-1).exp()

    x, w = torch.randn(16, 16, requires_grad=True), torch.randn(16, 16)
    expected = function(x, w)
    moved = x.detach().to(other).requires_grad_()
    result, code = code_of(function, moved, w.to(other))
    assert result.device == other
    torch.testing.assert_close(result.cpu(), expected)
    result.sum().backward()
    expected.sum().backward()
    assert moved.grad.device == other
    torch.testing.assert_close(moved.grad.cpu(), x.grad)
    made = re.findall(r"= empty_strided_openreg\(.*, (\d+)\)", code)
    assert made and set(made) == {"1"}, code
    # What was compiled for one device is not run on another.
    again = torch.compile(function)(x.detach().to(f"{NAME}:0"), w.to(f"{NAME}:0"))
    assert again.device.index == 0
    torch.testing.assert_close(again.cpu(), expected.detach())


def test_indices_are_checked_and_errors_reported_once(device):
    """Also where the loop runs on several threads, which no exception can leave."""
    weight = torch.randn(50, 16)
    index = torch.randint(50, (5000,))

    def function(weight, index):
        return (weight[index] * 2).sum(-1)

    compiled = torch.compile(function)
    torch.testing.assert_close(compiled(weight.to(device), index.to(device)).cpu(), function(weight, index))
    wrong = index.clone()
    wrong[4321] = 50
    with pytest.raises(RuntimeError, match="index out of bounds"):
        compiled(weight.to(device), wrong.to(device))
        api.synchronize()
    api.synchronize()
    torch.testing.assert_close(compiled(weight.to(device), index.to(device)).cpu(), function(weight, index))


def test_launches_do_not_wait(device):
    """A kernel is queued on the current stream: behind what the stream waits for."""
    compiled = torch.compile(lambda x: x * 2 + 1)
    x = torch.ones(64, device=device)
    compiled(x)
    side, event = torch.openreg.Stream(device), torch.Event(device)
    big = torch.ones(4000, 4000, device=device)
    for count in (20, 80, 320, 1280):  # more, should the machine leave this thread no time
        api.synchronize()
        with torch.openreg.stream(side):
            for _ in range(count):
                big.mul_(1.0)
            result = compiled(x)
            event.record()
        queued = not event.query()
        event.synchronize()
        assert result.tolist() == [3.0] * 64
        if queued:
            return
    pytest.fail("the launch waited for the stream")


def test_streams_events_and_devices_in_a_graph(device):
    def function(x):
        side = torch.openreg.Stream()
        event = torch.openreg.Event()
        y = x + 1
        event.record()
        with torch.openreg.stream(side):
            side.wait_event(event)
            z = y * 2
        torch.openreg.current_stream().wait_stream(side)
        return z + 1

    x = torch.arange(8.0, device=device)
    compiled = torch.compile(function, fullgraph=True)
    for _ in range(3):
        assert compiled(x).tolist() == ((torch.arange(8.0) + 1) * 2 + 1).tolist()


def test_device_contexts_and_properties_in_a_graph(device, other):
    def function(x):
        n = torch.openreg.device_count()
        n += torch.openreg.get_device_properties().multi_processor_count
        with torch.openreg.device(1):
            y = torch.ones(4, device="openreg")
        return x * n, y

    x = torch.ones(4, device=device)
    first, second = torch.compile(function, fullgraph=True)(x)
    n = api.device_count() + api.get_device_properties().multi_processor_count
    assert first.tolist() == [n] * 4
    assert second.device == other
    assert api.current_device() == 0


def test_numbers_and_tensors_of_the_cpu(device):
    """0-dim tensors on the CPU are values at the time of the call, whichever operand they are."""

    def function(x, k):
        return k - x, x * k, torch.where(x > k, k, x)

    x, k = torch.randn(100), torch.tensor(0.5)
    results = torch.compile(function, fullgraph=True)(x.to(device), k)
    expected = function(x, k.clone())
    k.fill_(7)
    for actual, want in zip(results, expected, strict=True):
        assert actual.device == device
        torch.testing.assert_close(actual.cpu(), want)


def test_graphs_on_both_devices(device):
    def function(x, y):
        a = (x * 2).cpu() + y.sin()
        return a, a.to(x.device) + x

    x, y = torch.randn(2, 50)
    actual = torch.compile(function, fullgraph=True)(x.to(device), y)
    for got, want in zip(actual, function(x, y), strict=True):
        torch.testing.assert_close(got.cpu(), want)
    assert [t.device.type for t in actual] == ["cpu", NAME]


def test_shapes_that_change_are_compiled_once(device):
    counter = CompileCounter()

    def function(x):
        return F.layer_norm(x, x.shape[-1:]).relu().sum(0)

    compiled = torch.compile(function, dynamic=True, fullgraph=True)
    for rows in (3, 7, 20):
        x = torch.randn(rows, 24)
        torch.testing.assert_close(compiled(x.to(device)).cpu(), function(x), rtol=1e-5, atol=1e-5)
    torch._dynamo.reset()
    counting = torch.compile(function, dynamic=True, backend=counter)
    for rows in (3, 7, 20):
        counting(torch.randn(rows, 24, device=device))
    assert counter.frame_count == 1


@pytest.mark.parametrize("fallback_random", [False, True])
def test_dropout_is_drawn_again_under_checkpoint(device, fallback_random):
    """Also where random numbers are those of eager code, by its operators."""
    from torch.utils.checkpoint import checkpoint

    w = torch.randn(64, 64, device=device, requires_grad=True)

    def block(x):
        return F.dropout(torch.sin(x @ w), 0.5)

    def function(x):
        return checkpoint(block, x, use_reentrant=False)

    x = torch.randn(64, 64, device=device, requires_grad=True)
    torch.manual_seed(3)
    with torch._inductor.config.patch(fallback_random=fallback_random):
        y = torch.compile(function, fullgraph=True)(x)
        y.sum().backward()
    kept = (y != 0).float() * 2
    assert 0.3 < (kept / 2).mean().item() < 0.7
    expected = (kept * torch.cos(x.detach() @ w.detach())) @ w.detach().T
    torch.testing.assert_close(x.grad.cpu(), expected.cpu(), rtol=1e-3, atol=1e-3)


def test_logs_name_the_kernels(device, tmp_path):
    code = """
import torch
torch.compile(lambda x: (x + 1).relu())(torch.ones(8, device="openreg"))
"""
    done = python(
        code,
        TORCH_LOGS="output_code",
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path),
        TORCH_COMPILE_DEBUG="1",
        TORCH_COMPILE_DEBUG_DIR=str(tmp_path / "debug"),
    )
    assert done.returncode == 0, done.stderr
    assert "openreg_fused_add_relu_0" in done.stderr
    written = list((tmp_path / "debug").rglob("output_code.py"))
    assert written and "openreg_fused_add_relu_0" in written[0].read_text()


def test_without_a_compiler_it_is_said(device, tmp_path):
    code = """
import torch
torch.compile(lambda x: (x + 1).relu())(torch.ones(8, device="openreg"))
"""
    done = python(code, CXX="/nowhere/g++", PATH="/nowhere", TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
    assert done.returncode != 0
    assert "no C++ compiler was found" in done.stderr, done.stderr[-3000:]


def test_what_is_not_there_is_refused_by_name(device, tmp_path):
    x = torch.ones(8, device=device)
    with torch._inductor.config.patch(cpp_wrapper=True), pytest.raises(Exception, match="no C\\+\\+ wrapper"):
        torch.compile(lambda x: x + 1)(x)
    torch._dynamo.reset()
    exported = torch.export.export(torch.nn.Linear(8, 8).to(device), (x,))
    with pytest.raises(Exception, match="no C\\+\\+ wrapper"):
        torch._inductor.aoti_compile_and_package(exported, package_path=str(tmp_path / "model.pt2"))


def test_a_device_that_functions_do_not_reach_has_the_other_way(device, monkeypatch):
    from torch_openreg._inductor import scheduling

    class Unreachable:
        host_accessible = False

    monkeypatch.setattr(scheduling.backend, "get_device_properties", Unreachable)
    x = torch.rand(3, device=device)
    said = "do not reach its memory.*backend='openreg'"
    with torch._inductor.utils.fresh_cache(), pytest.raises(Exception, match=said):
        torch.compile(lambda x: x.sin() + 5)(x)
    torch._dynamo.reset()
    result = torch.compile(lambda x: x.sin() + 5, backend=NAME)(x)
    torch.testing.assert_close(result.cpu(), x.cpu().sin() + 5)


@pytest.mark.parametrize("mode", ["reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"])
def test_modes(device, mode):
    x, w = torch.randn(2, 32, 32)
    with torch._inductor.utils.fresh_cache(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        actual = torch.compile(lambda x, w: (x @ w).relu(), mode=mode)(x.to(device), w.to(device))
    torch.testing.assert_close(actual.cpu(), (x @ w).relu())
    warned = any("captures no graphs" in str(warning.message) for warning in said)
    assert warned == (mode != "max-autotune-no-cudagraphs"), [str(warning.message) for warning in said]
