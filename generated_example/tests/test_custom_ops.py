# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `custom_ops` in the spec changes it, then `openreg-gen generate`.
"""Operators of the backend's own: values, broadcasting, shapes without data or with symbols, gradients, torch.vmap."""

import warnings

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

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


LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.transpose(1, 2),
    "permuted": lambda x: x.permute(2, 0, 1),
    "channels last": lambda x: x.unsqueeze(0).contiguous(memory_format=torch.channels_last),
    "every other": lambda x: x[:, ::2],
    "expanded": lambda x: x[:, :1].expand(x.shape),
    "broadcast": lambda x: x[:1],
    "a row": lambda x: x[0, 0],
}


@CASES
@pytest.mark.parametrize("layout", LAYOUTS)
def test_symbolic_sizes(device, name, tensors, differentiable, layout):
    args = arguments(name, tensors, device, shape=(5, 6, 7))
    args[0] = LAYOUTS[layout](args[0])
    for i in range(1, tensors):
        other = args[i] if layout in ("broadcast", "a row") else args[0].contiguous()
        args[i] = other.to(torch.float32)
    expected = operator(name)(*args)
    mode = FakeTensorMode(shape_env=ShapeEnv())
    with mode:
        fake = [mode.from_tensor(x) if isinstance(x, torch.Tensor) else x for x in args]
        actual = operator(name)(*fake)
    assert any(isinstance(size, torch.SymInt) for size in actual.shape)
    assert [int(size) for size in actual.shape] == list(expected.shape)
    assert [int(stride) for stride in actual.stride()] == list(expected.stride())
    assert actual.dtype == expected.dtype
    assert actual.device == device


def run(function, args, tensors, differentiable):
    """The result, and the gradients if there are any."""
    args = [x.detach().requires_grad_(differentiable) if isinstance(x, torch.Tensor) else x for x in args]
    result = function(*args)
    if differentiable:
        (result * result.detach()).sum().backward()
    return [result.detach(), *(x.grad for x in args[:tensors] if differentiable)]


@CASES
def test_compiled(device, name, tensors, differentiable):
    torch._dynamo.reset()
    for dynamic in (True, None):  # None: dynamic from the second shape on
        compiled = torch.compile(operator(name), backend="aot_eager", dynamic=dynamic, fullgraph=True)
        for shape in ((3, 4), (5, 4), (2, 7), (2, 3, 4)):
            args = arguments(name, tensors, device, shape=shape)
            torch.testing.assert_close(
                run(compiled, args, tensors, differentiable), run(operator(name), args, tensors, differentiable)
            )


@CASES
def test_exported(device, name, tensors, differentiable):
    class Module(torch.nn.Module):
        def forward(self, *xs):
            return operator(name)(*xs, *numbers)

    args = arguments(name, tensors, device, shape=(3, 4))
    numbers = args[tensors:]
    rows = torch.export.Dim("rows")
    shapes = {"xs": tuple({0: rows} for _ in range(tensors))}
    exported = torch.export.export(Module(), tuple(args[:tensors]), dynamic_shapes=shapes).module()
    for size in (3, 5, 8):
        args = arguments(name, tensors, device, shape=(size, 4))
        torch.testing.assert_close(exported(*args[:tensors]), operator(name)(*args))


@CASES
def test_vmap(device, name, tensors, differentiable):
    def call(*xs):
        return operator(name)(*xs, *numbers)

    args = arguments(name, tensors, device, shape=(3, 4, 5))
    xs, numbers = args[:tensors], args[tensors:]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PyTorch's own loop over the batch warns
        for dim in (0, 1, 2):
            expected = torch.stack([call(*slices) for slices in zip(*(x.unbind(dim) for x in xs), strict=True)])
            torch.testing.assert_close(torch.vmap(call, in_dims=dim)(*xs), expected)
        torch.testing.assert_close(torch.vmap(torch.vmap(call))(*xs), call(*xs))
        if tensors > 1:
            # One alone is batched, of another rank and dtype; the numbers of a batch count as numbers in type promotion.
            first, others = xs[0].to(torch.float32), [x[0] for x in xs[2:]]
            number, column = xs[1][0, 0, 0], xs[1][0, 0]
            expected = torch.stack([call(x, number, *others) for x in first])
            actual = torch.vmap(lambda x: call(x, number, *others))(first)
            torch.testing.assert_close(actual, expected)
            expected = torch.stack([call(first[0], number, *others) for number in column])
            actual = torch.vmap(lambda number: call(first[0], number, *others))(column)
            torch.testing.assert_close(actual, expected)
        if differentiable:
            expected = run(call, xs, tensors, True)[1:]
            every = tuple(range(tensors))
            grad = torch.func.grad(lambda *xs: (call(*xs) * call(*xs).detach()).sum(), argnums=every)
            torch.testing.assert_close(list(grad(*xs)), expected)
            torch.testing.assert_close(list(torch.vmap(grad)(*xs)), expected)
            leaves = [x.detach().requires_grad_() for x in xs]
            result = torch.vmap(call)(*leaves)
            (result * result.detach()).sum().backward()
            torch.testing.assert_close([x.grad for x in leaves], expected)


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


@CASES
@pytest.mark.parametrize("backend", ["inductor", NAME])
def test_compiled_without_a_graph_break(device, name, tensors, differentiable, backend):
    op = operator(name)
    if backend == "inductor" and not torch.get_device_module(NAME).get_device_properties().host_accessible:
        pytest.skip("functions launched on the device do not reach its memory")

    def gradients(function):
        args = arguments(name, tensors, device)
        given = [x.requires_grad_(differentiable) for x in args[:tensors]]
        result = function(*args) * 2
        if differentiable:
            result.sum().backward()
        return [result.detach(), *(x.grad for x in given)]

    torch._dynamo.reset()
    for actual, expected in zip(
        gradients(torch.compile(lambda *args: op(*args), fullgraph=True, backend=backend)), gradients(op), strict=True
    ):
        if expected is not None:
            torch.testing.assert_close(actual.cpu(), expected.cpu())
