# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Autograd on device tensors: leaves, graphs, what is recorded and what is not; networks train as on the CPU."""

import copy
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

NAME = "openreg"
api = torch.openreg


@pytest.fixture
def x(device):
    return torch.tensor([1.0, 2.0, 3.0]).to(device).requires_grad_()


@pytest.mark.parametrize("make", [torch.ones, torch.zeros, torch.rand, torch.empty])
def test_new_leaves(device, make):
    leaf = make(2, 3, device=device, requires_grad=True)
    assert leaf.requires_grad
    assert leaf.is_leaf
    assert leaf.grad_fn is None
    assert leaf.grad is None


def test_graph(device, x):
    y = x * x
    assert not y.is_leaf
    assert type(y.grad_fn).__name__ == "MulBackward0"
    assert y.grad_fn.next_functions[0][0].variable is x
    y.sum().backward()
    assert x.grad.device == device
    assert x.grad.tolist() == [2, 4, 6]


def test_no_grad_and_detach(x):
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
    part = x.detach()
    assert not part.requires_grad
    assert part.data_ptr() == x.data_ptr()
    (x * part).sum().backward()
    assert x.grad.tolist() == [1, 2, 3]  # what is detached counts as a constant


def test_retain_grad(device, x):
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.device == device
    assert y.grad.tolist() == [4, 8, 12]


def test_backward_twice(x):
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8, 12]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_a_leaf_is_not_written_in_place(x):
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x.add_(1)
    y = x * 2
    z = y.exp()
    y += 1
    z.sum().backward()  # exp saved its result, not y
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y = x.exp()
        y += 1
        y.sum().backward()


def test_gradients_of_the_wrong_device(x):
    y = x * 2
    with pytest.raises(RuntimeError, match="expected device"):
        y.backward(torch.ones(3))
    with pytest.raises(RuntimeError, match="different device|on the same device"):
        x.grad = torch.ones(3)


def test_copies_carry_gradients_home(device, other):
    host = torch.tensor([1.0, 2.0], requires_grad=True)
    weight = torch.tensor([3.0, 4.0], device=other, requires_grad=True)
    (host.to(device).to(other) * weight).cpu().sum().backward()
    assert (host.grad.device.type, weight.grad.device) == ("cpu", other)
    assert (host.grad.tolist(), weight.grad.tolist()) == ([3, 4], [1, 2])


def test_deepcopy_of_a_leaf_keeps_its_gradient(x):
    (x * 2).sum().backward()
    twin = copy.deepcopy(x)
    assert twin.requires_grad
    assert twin.grad.tolist() == [2, 2, 2]
    assert twin.grad.data_ptr() != x.grad.data_ptr()


class NoGradient(torch.autograd.Function):
    """Passes its argument on, and no gradient back."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return None


def leaf(*shape):
    return lambda where: torch.rand(shape).to(where).requires_grad_()


def integers(*values):
    return lambda where: torch.tensor(values).to(where)


def module(make):
    """The module's result, or the first of its results."""

    def call(x):
        result = make().to(x.device)(x)
        while isinstance(result, tuple):
            result = result[0]
        return result

    return call


HEADS, IMAGES, ROWS = leaf(2, 2, 4, 8), leaf(2, 3, 6, 6), leaf(3, 4)
BACKWARD = {
    "attention": (F.scaled_dot_product_attention, HEADS, HEADS, HEADS),
    "masked attention": (F.scaled_dot_product_attention, HEADS, HEADS, HEADS, leaf(4, 4)),
    "multihead attention": (module(lambda: nn.TransformerEncoderLayer(8, 2, 16)), leaf(4, 2, 8)),
    "conv1d": (F.conv1d, leaf(2, 3, 6), leaf(4, 3, 3), leaf(4)),
    "conv2d": (F.conv2d, IMAGES, leaf(4, 3, 3, 3), leaf(4)),
    "conv_transpose2d": (F.conv_transpose2d, IMAGES, leaf(3, 4, 3, 3), leaf(4)),
    "batch_norm": (module(lambda: torch.nn.BatchNorm2d(3)), IMAGES),
    "batch_norm in eval": (module(lambda: torch.nn.BatchNorm2d(3).eval()), IMAGES),
    "layer_norm": (module(lambda: torch.nn.LayerNorm(4)), ROWS),
    "group_norm": (module(lambda: torch.nn.GroupNorm(1, 3)), IMAGES),
    "rms_norm": (module(lambda: torch.nn.RMSNorm(4)), ROWS),
    "linear": (F.linear, ROWS, leaf(5, 4), leaf(5)),
    "embedding": (F.embedding, integers(1, 2, 0), ROWS),
    **{
        f"embedding_bag {mode}": (
            lambda i, x, offsets, mode=mode: F.embedding_bag(i, x, offsets, mode=mode),
            integers(1, 2, 0),
            ROWS,
            integers(0, 2),
        )
        for mode in ("sum", "mean", "max")
    },
    "dropout": (F.dropout, ROWS),
    "prelu": (F.prelu, ROWS, leaf(4)),
    "gelu": (F.gelu, ROWS),
    "softmax": (lambda x: F.softmax(x, -1), ROWS),
    "log_softmax": (lambda x: F.log_softmax(x, -1), ROWS),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), IMAGES),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2), IMAGES),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, 2), IMAGES),
    "grid_sample": (lambda x, grid: F.grid_sample(x, grid, align_corners=False), IMAGES, leaf(2, 4, 4, 2)),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), IMAGES),
    "mse_loss": (F.mse_loss, ROWS, ROWS),
    "cross_entropy": (F.cross_entropy, ROWS, integers(1, 2, 0)),
    "binary_cross_entropy": (F.binary_cross_entropy, ROWS, ROWS),
    "LSTM": (module(lambda: torch.nn.LSTM(4, 5, 2)), leaf(6, 2, 4)),
    "GRU": (module(lambda: torch.nn.GRU(4, 5, 2)), leaf(6, 2, 4)),
    "RNN": (module(lambda: torch.nn.RNN(4, 5, 2)), leaf(6, 2, 4)),
    "LSTMCell": (module(lambda: torch.nn.LSTMCell(4, 5)), ROWS),
    "GRUCell": (module(lambda: torch.nn.GRUCell(4, 5)), ROWS),
    "cell of LSTMCell": (lambda x: torch.nn.LSTMCell(4, 5).to(x.device)(x)[1], ROWS),
}


@pytest.mark.parametrize("case", BACKWARD.values(), ids=BACKWARD)
def test_no_gradient_arrives(device, case):
    function, *makers = case
    arguments = [make(device) for make in makers]
    NoGradient.apply(function(*arguments)).sum().backward()
    assert all(x.grad is None or not x.grad.any() for x in arguments)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="thread names are read from /proc")
def test_each_device_has_a_thread_of_the_engine(x):
    x.sum().backward()
    names = {path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")}
    assert {f"pt_autograd_{index}" for index in range(api.device_count())} <= names


# --- Networks


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.ConvTranspose2d(4, 4, 2, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 3),
    )


def transformer() -> nn.Module:
    return nn.Sequential(
        nn.TransformerEncoderLayer(6, 2, 12, dropout=0.0, batch_first=True),
        nn.Flatten(),
        nn.Linear(30, 3),
    )


def embedding() -> nn.Module:
    return nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(20, 3), nn.LogSoftmax(-1))


def flat(make):
    return lambda: nn.Sequential(make(), nn.Flatten())


NETWORKS = {
    "mlp": (mlp, lambda: torch.randn(8, 6)),
    "convolutional": (convolutional, lambda: torch.randn(4, 2, 8, 8)),
    "transformer": (transformer, lambda: torch.randn(4, 5, 6)),
    "embedding": (embedding, lambda: torch.randint(10, (4, 5))),
    "conv1d": (flat(lambda: nn.Conv1d(2, 3, 3)), lambda: torch.randn(2, 2, 8)),
    "groups": (flat(lambda: nn.Conv2d(4, 6, 3, padding=1, groups=2)), lambda: torch.randn(2, 4, 6, 6)),
    "strided": (flat(lambda: nn.Conv2d(2, 3, 3, stride=2, dilation=2, bias=False)), lambda: torch.randn(2, 2, 9, 9)),
    "conv3d": (flat(lambda: nn.Conv3d(1, 2, 2)), lambda: torch.randn(1, 1, 4, 4, 4)),
    "transposed": (flat(lambda: nn.ConvTranspose2d(2, 4, 3, stride=2, groups=2)), lambda: torch.randn(2, 2, 5, 5)),
}


def train(model: nn.Module, x: torch.Tensor, optimizer: torch.optim.Optimizer) -> list[float]:
    target = torch.arange(x.shape[0], device=x.device) % 3
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def assert_same(device_model: nn.Module, cpu_model: nn.Module) -> None:
    for (name, got), (_, expected) in zip(
        device_model.state_dict().items(),
        cpu_model.state_dict().items(),
        strict=True,
    ):
        assert got.device.type == NAME, name
        torch.testing.assert_close(got.cpu(), expected, rtol=1e-3, atol=1e-5, msg=lambda m, name=name: f"{name}: {m}")


@pytest.mark.parametrize("name", NETWORKS)
def test_trains_as_on_the_cpu(device, name):
    torch.manual_seed(0)
    make, sample = NETWORKS[name]
    cpu_model, x = make(), sample()
    model = copy.deepcopy(cpu_model).to(device)
    expected = train(cpu_model, x, torch.optim.SGD(cpu_model.parameters(), lr=0.1, momentum=0.9))
    losses = train(model, x.to(device), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    assert losses == pytest.approx(expected, rel=1e-4)
    assert losses[-1] < losses[0]
    assert_same(model, cpu_model)


@pytest.mark.parametrize("optimizer", [torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop])
@pytest.mark.parametrize("foreach", [False, True])
def test_optimizers(device, optimizer, foreach):
    torch.manual_seed(0)
    cpu_model, x = mlp(), torch.randn(8, 6)
    model = copy.deepcopy(cpu_model).to(device)
    train(cpu_model, x, optimizer(cpu_model.parameters(), lr=0.01, foreach=foreach))
    train(model, x.to(device), optimizer(model.parameters(), lr=0.01, foreach=foreach))
    assert_same(model, cpu_model)


def test_optimizer_state_moves(device):
    torch.manual_seed(0)
    model = mlp().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    train(model, torch.randn(8, 6, device=device), optimizer)
    fresh = torch.optim.Adam(mlp().to(device).parameters(), lr=0.01)
    fresh.load_state_dict(optimizer.state_dict())
    assert all(state["exp_avg"].device == device for state in fresh.state.values())


def test_backward_runs_on_the_stream_of_forward(device):
    x = torch.ones(1000, device=device, requires_grad=True)
    stream = api.Stream()
    stream.wait_stream(api.current_stream())
    with api.stream(stream):
        y = (x * 3).sum()
        y.backward()
    api.current_stream().wait_stream(stream)
    assert torch.equal(x.grad.cpu(), torch.full((1000,), 3.0))


def test_gradcheck(device):
    x = torch.randn(3, 4, dtype=torch.float64, device=device, requires_grad=True)
    w = torch.randn(4, 2, dtype=torch.float64, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, b: (a @ b).tanh().sum(0), (x, w))


def test_hooks_and_accumulation(device):
    model = nn.Linear(3, 1, bias=False).to(device)
    seen = []
    model.weight.register_hook(lambda grad: seen.append(grad.device))
    for _ in range(2):
        model(torch.ones(1, 3, device=device)).backward()
    assert seen == [device, device]
    assert model.weight.grad.tolist() == [[2, 2, 2]]


def test_pinned_loader_feeds_training(device):
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(32, 6), torch.randint(3, (32,)))
    model = mlp().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    epochs = []
    for _ in range(5):
        total = 0.0
        for x, y in DataLoader(data, batch_size=8, pin_memory=True):
            assert x.is_pinned()
            logits = model(x.to(device, non_blocking=True))
            loss = nn.functional.cross_entropy(logits, y.to(device, non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        epochs.append(total)
    assert epochs[-1] < epochs[0]


def test_inference_mode_and_no_grad(device):
    model = mlp().to(device).eval()
    x = torch.randn(2, 6, device=device)
    with torch.inference_mode():
        first = model(x)
    with torch.no_grad():
        second = model(x)
    assert first.is_inference()
    assert not second.requires_grad
    torch.testing.assert_close(first.cpu(), second.cpu())
