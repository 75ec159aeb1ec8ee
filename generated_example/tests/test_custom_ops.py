# Written by openreg-gen 0.1.0 from openreg.yaml.
# Generated: do not edit; `custom_ops` in the spec changes it, then `openreg-gen generate`.
"""Operators of the backend's own: values, broadcasting, shapes without data, gradients."""

import pytest
import torch

import torch_openreg.custom_ops as custom_ops

NAME = "openreg"
# Operator, how many tensors it takes first, whether it has a gradient.
OPERATORS = [
    ("custom_abs.default", 1, True),
    ("custom_square.default", 1, True),
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
    checks = ("test_schema", "test_faketensor")
    if differentiable:
        checks += ("test_autograd_registration",)
    torch.library.opcheck(operator(name), tuple(arguments(name, tensors, device)), test_utils=checks)
