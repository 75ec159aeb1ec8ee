"""What PyTorch's compiler needs of a device before any kernel is generated: tracing, fake tensors, guards, gradients."""

import pytest
import torch
from built import NAME
from torch._dynamo.device_interface import get_interface_for_device
from torch._dynamo.testing import CompileCounter, CompileCounterWithBackend
from torch._subclasses.fake_tensor import FakeTensorMode

api = torch.get_device_module(NAME)


@pytest.fixture(autouse=True)
def _forget():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def compiled(function, backend="aot_eager", **options):
    return torch.compile(function, backend=backend, fullgraph=True, **options)


def test_the_interface():
    assert NAME in torch._dynamo.list_backends()
    interface = get_interface_for_device(NAME)
    assert interface.is_available()
    assert interface.current_device() == api.current_device()
    assert interface.device_count() == api.device_count()


def test_operators_in_one_graph(device):
    def function(x, y):
        return (x @ y).relu().sum(-1) + x.mean()

    x, y = torch.randn(2, 4, 4).to(device)
    result = compiled(function)(x, y)
    assert result.device == x.device
    torch.testing.assert_close(result.cpu(), function(x.cpu(), y.cpu()))


def test_fake_tensors_have_the_device(device):
    with FakeTensorMode():
        x = torch.empty(3, 4, device=device)
        for result in (x + 1, x @ x.T, x.sum(), x.to("cpu").to(device), torch.cat([x, x])):
            assert result.device == torch.device(device)
        assert x.to("cpu").device.type == "cpu"


def test_metadata_of_graphs(device):
    seen = []

    def backend(graph, examples):
        seen.extend(x.device for x in examples)
        seen.extend(n.meta["example_value"].device for n in graph.graph.nodes if n.op == "call_function")
        return graph

    x = torch.ones(3).to(device)
    compiled(lambda x: x * 2 + 1, backend)(x)
    assert seen and set(seen) == {x.device}


def test_other_shapes_compile_again_once(device):
    counter = CompileCounter()
    function = compiled(lambda x: x * 2, counter)
    for size in (2, 2, 3, 4, 5):
        function(torch.ones(size).to(device))
    assert counter.frame_count == 2  # the second one takes any size


def test_any_shape(device):
    counter = CompileCounterWithBackend("aot_eager")
    function = compiled(lambda x: x.view(-1, 2).sum(0), counter, dynamic=True)
    for size in (4, 6, 10):
        x = torch.arange(float(size))
        torch.testing.assert_close(function(x.to(device)).cpu(), x.view(-1, 2).sum(0))
    assert counter.frame_count == 1


def test_gradients(device):
    def loss(x, w):
        return (torch.tanh(x @ w) ** 2).sum()

    x, w = torch.randn(3, 4), torch.randn(4, 5)
    grads = []
    for place, function in (("cpu", loss), (device, compiled(loss))):
        parameter = w.detach().to(place).requires_grad_()
        function(x.to(place), parameter).backward()
        grads.append(parameter.grad.cpu())
    torch.testing.assert_close(*grads)


def test_modules(device):
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2)).to(device)
    x = torch.randn(3, 4).to(device)
    torch.testing.assert_close(compiled(model)(x), model(x))


def test_copies_between_devices_are_traced(device):
    def function(x):
        return (x.to(device) * 2).cpu() + 1

    x = torch.ones(3)
    torch.testing.assert_close(compiled(function)(x), torch.full((3,), 3.0))


def test_a_graph_that_breaks(device):
    counter = CompileCounter()

    @torch.compile(backend=counter)
    def function(x):
        x = x + 1
        if x.sum().item() > 0:  # a number: the graph ends
            return x * 2
        return x

    torch.testing.assert_close(function(torch.ones(3).to(device)).cpu(), torch.full((3,), 4.0))
    assert counter.frame_count >= 2


def test_the_default_device(device):
    with torch.device(device):
        result = compiled(lambda: torch.ones(3) + torch.arange(3))()
    assert result.device == torch.device(device)


class Itself(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


class View(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, grad):
        return grad.view(2, 2) * 5


@pytest.mark.parametrize(("function", "factor"), [(Itself, 3), (View, 5)])
def test_functions_that_return_their_input(device, function, factor):
    x = torch.ones(2, 2).to(device).requires_grad_()
    compiled(lambda x: function.apply(x) * 2)(x).sum().backward()
    torch.testing.assert_close(x.grad.cpu(), torch.full((2, 2), 2.0 * factor))
