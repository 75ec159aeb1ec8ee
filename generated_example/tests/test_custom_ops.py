# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `custom_ops` in the spec changes it, then `openreg-gen generate`.
"""Operators of the backend's own: values, broadcasting, shapes without data, gradients, views."""

import pytest
import torch

import torch_openreg.custom_ops as custom_ops
from torch_openreg.testing import cpp

NAME = "openreg"
# Operator, how many tensors it takes first, whether it has a gradient.
OPERATORS = [
    ("custom_abs.default", 1, True),
    ("custom_square.default", 1, True),
]
# Those that return a view of their argument.
VIEWS = [
    ("custom_alias.default", 1),
]
# Kernels that the spec gives by expressions, gradients among them.
EXPRESSIONS = [
    (
        "custom_abs.default",
        "cpp.abs(self)",
    ),
    (
        "custom_abs_backward.default",
        "cpp.where(self < 0, -grad, (cpp.where(self > 0, grad, 0)))",
    ),
    (
        "custom_square.default",
        "self * self",
    ),
    (
        "custom_square_backward.default",
        "2 * self * grad",
    ),
]
CASES = pytest.mark.parametrize(("name", "tensors", "differentiable"), OPERATORS)


def operator(name):
    base, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, NAME), base), overload)


def function(name):
    return getattr(custom_ops, name.removesuffix(".default").replace(".", "_"))


def arguments(name, tensors, device, dtype=torch.float64, shape=(3, 4)):
    """Tensors, then a number for each argument without a default."""
    generator = torch.Generator().manual_seed(1)
    args = [torch.rand(shape, generator=generator, dtype=torch.float64) * 4 - 2 for _ in range(tensors)]
    args = [x.to(dtype).to(device) for x in args]
    for argument in operator(name)._schema.arguments[tensors:]:
        if not argument.has_default_value() and not argument.kwarg_only:
            args.append({"int": 2, "bool": True}.get(str(argument.type), 0.5))
    return args


@CASES
def test_matches_the_cpu(device, name, tensors, differentiable):
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64):
        for shape in ((3, 4), (), (0, 2), (2, 3, 5)):
            actual = operator(name)(*arguments(name, tensors, device, dtype, shape))
            expected = operator(name)(*arguments(name, tensors, "cpu", dtype, shape))
            assert actual.device == device
            torch.testing.assert_close(actual.cpu(), expected)
    args = arguments(name, tensors, device)
    strided = [x.t() if isinstance(x, torch.Tensor) else x for x in args]
    torch.testing.assert_close(operator(name)(*strided), operator(name)(*args).t())
    assert torch.equal(function(name)(*args).cpu(), operator(name)(*args).cpu())


@pytest.mark.parametrize(("name", "expression"), EXPRESSIONS, ids=[name for name, _ in EXPRESSIONS])
def test_computes_what_the_spec_says(device, name, expression):
    generator = torch.Generator().manual_seed(2)
    values = {}
    for argument in operator(name)._schema.arguments:
        if str(argument.type) == "Tensor":
            values[argument.name] = torch.rand(3, 4, generator=generator, dtype=torch.float64) * 4 - 2
        elif argument.has_default_value():
            values[argument.name] = argument.default_value
        else:
            values[argument.name] = {"int": 2, "bool": True}.get(str(argument.type), 0.5)
    on_device = {key: x.to(device) if isinstance(x, torch.Tensor) else x for key, x in values.items()}
    actual = operator(name)(**on_device).cpu()
    expected = torch.as_tensor(eval(expression, {"cpp": cpp, **values}), dtype=torch.float64)
    torch.testing.assert_close(actual, expected.expand(actual.shape))


@CASES
def test_meta(device, name, tensors, differentiable):
    expected = operator(name)(*arguments(name, tensors, device))
    actual = operator(name)(*arguments(name, tensors, "meta"))
    assert actual.is_meta
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype


@CASES
def test_gradient(device, name, tensors, differentiable):
    args = arguments(name, tensors, device)
    for x in args[:tensors]:
        x.requires_grad_()
    if not differentiable:
        result = operator(name)(*args)
        if result.requires_grad:
            with pytest.raises((RuntimeError, NotImplementedError)):
                result.sum().backward()
        return
    assert torch.autograd.gradcheck(operator(name), args)
    host = arguments(name, tensors, "cpu")
    for x in host[:tensors]:
        x.requires_grad_()
    for inputs in (args, host):
        result = operator(name)(*inputs)
        result.backward(torch.ones_like(result))
    for x, y in zip(args[:tensors], host[:tensors], strict=True):
        torch.testing.assert_close(x.grad.cpu(), y.grad)


@CASES
def test_opcheck(device, name, tensors, differentiable):
    args = arguments(name, tensors, device)
    torch.library.opcheck(operator(name), tuple(args))
    for x in args[:tensors]:
        x.requires_grad_(differentiable)
    # Where gradients are registered PyTorch looks at for its own devices alone.
    checks = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(operator(name), tuple(args), test_utils=checks)


@pytest.mark.parametrize(("name", "tensors"), VIEWS)
def test_views(device, name, tensors):
    def call(function, *xs):
        return function(*xs, *numbers)

    args = arguments(name, tensors, device)
    xs, numbers = args[:tensors], args[tensors:]
    host = [x.cpu() for x in xs]
    try:
        expected = call(operator(name), *host)
    except (RuntimeError, ValueError, IndexError, NotImplementedError) as error:
        pytest.skip(f"it takes other arguments than these: {error}")
    actual = call(operator(name), *xs)
    if not isinstance(actual, torch.Tensor):
        pytest.skip("what it returns is more than one view")
    torch.testing.assert_close(actual.cpu(), expected)
    assert actual._is_view()
    assert actual.untyped_storage().data_ptr() in [x.untyped_storage().data_ptr() for x in xs]
    # Written through the view, it is the argument that changes.
    actual.fill_(7)
    expected.fill_(7)
    for x, y in zip(xs, host, strict=True):
        torch.testing.assert_close(x.cpu(), y)
    # The gradient is that of the view.
    for x in (*xs, *host):
        x.requires_grad_()
    call(operator(name), *xs).square().sum().backward()
    call(operator(name), *host).square().sum().backward()
    for x, y in zip(xs, host, strict=True):
        torch.testing.assert_close(x.grad.cpu(), y.grad)
    torch._dynamo.reset()
    compiled = torch.compile(lambda *xs: call(operator(name), *xs) * 2, backend="aot_eager", dynamic=True)
    torch.testing.assert_close(compiled(*xs), call(operator(name), *xs) * 2)
