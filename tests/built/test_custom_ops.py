"""Operators of the backend's own, by what is derived of their schemas: sizes with symbols, torch.compile, export, torch.vmap."""

import warnings

import pytest
import torch
from built import NAME, PACKAGE, ROOT, module_of
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

if not (ROOT / "tests/test_custom_ops.py").exists():
    pytest.skip("the tree has no operators of its own", allow_module_level=True)
own = module_of(ROOT / "tests/test_custom_ops.py")
CASES, arguments, operator = own.CASES, own.arguments, own.operator

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
def test_symbolic_sizes(device, name, tensors, differentiable, derivative, layout):
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
def test_compiled(device, name, tensors, differentiable, derivative):
    torch._dynamo.reset()
    for dynamic in (True, None):  # None: dynamic from the second shape on
        compiled = torch.compile(operator(name), backend="aot_eager", dynamic=dynamic, fullgraph=True)
        for shape in ((3, 4), (5, 4), (2, 7), (2, 3, 4)):
            args = arguments(name, tensors, device, shape=shape)
            torch.testing.assert_close(
                run(compiled, args, tensors, differentiable), run(operator(name), args, tensors, differentiable)
            )


@CASES
def test_exported(device, name, tensors, differentiable, derivative):
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
def test_vmap(device, name, tensors, differentiable, derivative):
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


@CASES
@pytest.mark.parametrize("backend", ["inductor", NAME])
def test_compiled_without_a_graph_break(device, name, tensors, differentiable, derivative, backend):
    op = operator(name)
    if not (ROOT / PACKAGE / "_inductor").exists():
        pytest.skip("the tree has no component compile")
    properties = torch.get_device_module(NAME).get_device_properties()
    if backend == "inductor" and not (
        (ROOT / PACKAGE / "_inductor/scheduling.py").exists() and properties.host_accessible
    ):
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
