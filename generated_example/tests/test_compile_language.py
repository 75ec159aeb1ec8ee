# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""Kernels in a language: C++, a loop over work items, printed by the base classes of _inductor/language.py."""

import pytest
import torch
import torch.nn.functional as F
from torch._inductor.utils import fresh_cache, run_and_get_code

NAME = "openreg"
api = torch.get_device_module(NAME)
TYPES = {
    torch.float32: "float",
    torch.float64: "double",
    torch.int64: "int64_t",
    torch.int32: "int32_t",
    torch.uint8: "uint8_t",
    torch.int8: "int8_t",
    torch.bool: "bool",
}


@pytest.fixture
def language(monkeypatch, device):
    """What Inductor makes of the device meanwhile."""
    if not api.get_device_properties(device).host_accessible:
        pytest.skip("functions launched on the device do not reach its memory")
    from torch._inductor.utils import IndentedBuffer

    from torch_openreg._inductor import scheduling
    from torch_openreg._inductor.language import WorkItemKernel, WorkItemScheduling
    from torch_openreg._inductor.source import launchable

    class Kernel(WorkItemKernel):
        types = TYPES
        index_type = "int64_t"

        def text(self, name, parameters, body, items):
            code = IndentedBuffer()
            code.writelines(["#include <cmath>", "#include <cstdint>", "using namespace std;"])
            code.writeline(f'extern "C" void {name}({", ".join(parameters)})')
            code.writeline("{")
            code.writeline(f"for (int64_t item = 0; item < {items}; ++item)")
            code.writeline("{")
            with code.indent():
                code.splice(body)
            code.writelines(["}", "}"])
            return code.getvalue()

    class Scheduling(WorkItemScheduling):
        kernel_type = Kernel

        def definition(self, name, source, kernel):
            types = [declaration.rsplit(" ", 1)[0] for declaration, _, _ in kernel._parameters()]
            text = launchable(source, name, types)
            return f"openreg_compile.kernel(async_compile, {name!r}, {types!r}, r'''{text}''')"

    monkeypatch.setattr(scheduling, "Scheduling", Scheduling)
    torch._dynamo.reset()
    with fresh_cache():
        yield
    torch._dynamo.reset()


def elementwise(x, y):
    return torch.where(x > 0, torch.exp(-x) * y, torch.sigmoid(y)).tanh(), (x + 2).round()


def reductions(x, y):
    return x.sum(0), (x * y).amax(-1), x.argmax(-1), y.var(-1), (x > 0).any(-1)


def normalized(x, y):
    return F.softmax(x, -1) + F.layer_norm(y, y.shape[-1:])


def joined(x, y):
    return torch.cat([x, y.exp()], 1) + 1, F.pad(x, (1, 2), value=3.0).sum(-1), x.roll(1, 0)


def divided(x, y):
    whole = (x * 9).to(torch.int64)
    return whole // 3, torch.div(whole, 4, rounding_mode="trunc"), y.floor()


@pytest.mark.parametrize("function", [elementwise, reductions, normalized, joined, divided])
def test_printed_kernels_compute_what_eager_code_does(language, device, function):
    x, y = torch.randn(2, 12, 40, generator=torch.Generator().manual_seed(0))
    actual, code = run_and_get_code(torch.compile(function, fullgraph=True), x.to(device), y.to(device))
    assert "for (int64_t item = 0;" in code[0]
    assert "at::vec" not in code[0]
    expected = function(x, y)
    for got, want in zip(*((r if isinstance(r, tuple) else (r,)) for r in (actual, expected)), strict=True):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)


def test_sizes_that_change(language, device):
    compiled = torch.compile(lambda x: (x * 2).sum(-1), dynamic=True, fullgraph=True)
    for shape in ((3, 5), (7, 11)):
        x = torch.randn(shape)
        torch.testing.assert_close(compiled(x.to(device)).cpu(), (x * 2).sum(-1), rtol=1e-4, atol=1e-5)
