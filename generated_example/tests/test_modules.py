# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Networks train on the device as on the CPU, whichever operators run there by a kernel and which through the CPU."""

import copy

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint
from torch.utils._pytree import tree_map_only
from torch.utils.data import DataLoader, TensorDataset

NAME = "openreg"
api = torch.openreg


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


NETWORKS = {
    "mlp": (mlp, lambda: torch.randn(8, 6)),
    "convolutional": (convolutional, lambda: torch.randn(4, 2, 8, 8)),
    "transformer": (transformer, lambda: torch.randn(4, 5, 6)),
    "embedding": (embedding, lambda: torch.randint(10, (4, 5))),
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


def test_checkpoint_gives_the_same_gradients(device):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Linear(6, 6)).to(device)
    x = torch.randn(4, 6, device=device, requires_grad=True)
    gradients = []
    for use in (False, True):
        model.zero_grad()
        x.grad = None
        torch.manual_seed(1)
        y = checkpoint(model, x, use_reentrant=False) if use else model(x)
        y.sum().backward()
        gradients.append([x.grad.cpu(), *(p.grad.cpu() for p in model.parameters())])
    for plain, checkpointed in zip(*gradients, strict=True):
        torch.testing.assert_close(plain, checkpointed)


def test_dropout_is_seeded(device):
    dropout = nn.Dropout(0.5)
    x = torch.ones(1000, device=device)
    torch.manual_seed(3)
    first = dropout(x).cpu()
    torch.manual_seed(3)
    assert torch.equal(dropout(x).cpu(), first)
    assert 300 < int((first == 0).sum()) < 700


def test_backward_across_devices(device, other):
    x = torch.randn(5, requires_grad=True)
    y = (x.to(device) * 2).to(other).sin().cpu()
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * (2 * x.detach()).cos())


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


BAGS = {
    "sum": {"mode": 0},
    "mean": {"mode": 1},
    "max": {"mode": 2},
    "last offset": {"mode": 0, "include_last_offset": True},
    "last offset, mean": {"mode": 1, "include_last_offset": True},
    "last offset, max": {"mode": 2, "include_last_offset": True},
    "padding": {"mode": 0, "padding_idx": 3},
    "padding, max": {"mode": 2, "padding_idx": 3},
    "weights": {"mode": 0, "per_sample_weights": torch.tensor([0.5, -1.0, 2.0, 3.0, 1.5])},
}


@pytest.mark.parametrize("dtypes", [(torch.float32, torch.int64), (torch.float64, torch.int32)], ids=str)
@pytest.mark.parametrize("options", BAGS.values(), ids=BAGS)
@pytest.mark.parametrize("name", ["_embedding_bag", "_embedding_bag_forward_only"])
def test_embedding_bag_returns_what_fake_tensors_have(device, name, options, dtypes):
    floating, integer = dtypes
    weight = torch.arange(24.0, dtype=floating).reshape(6, 4)
    indices, offsets = torch.tensor([3, 1, 3, 5, 0], dtype=integer), torch.tensor([0, 2, 2, 5], dtype=integer)
    options = tree_map_only(torch.Tensor, lambda x: x.to(floating), options)
    op = getattr(torch.ops.aten, name).default
    args, kwargs = tree_map_only(torch.Tensor, lambda x: x.to(device), ((weight, indices, offsets), options))
    found = op(*args, **kwargs)
    with FakeTensorMode() as mode:
        args, kwargs = tree_map_only(torch.Tensor, mode.from_tensor, (args, kwargs))
        expected = op(*args, **kwargs)
    for a, b in zip(found, expected, strict=True):
        assert (a.device, a.dtype, a.shape, a.stride()) == (b.device, b.dtype, b.shape, b.stride())
    torch.testing.assert_close(found[0].cpu(), op(weight, indices, offsets, **options)[0])
    assert found[1].tolist() == [0, 0, 2, 2, 2]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("last", [False, True])
def test_embedding_bag_trains_as_on_the_cpu(device, mode, last):
    indices, offsets = torch.tensor([3, 1, 3, 5, 0]), torch.tensor([0, 2, 2, 5])
    torch.manual_seed(0)
    bags = nn.EmbeddingBag(6, 4, mode=mode, include_last_offset=last)
    twin = copy.deepcopy(bags).to(device)
    out = bags(indices, offsets)
    found = twin(indices.to(device), offsets.to(device))
    torch.testing.assert_close(found.cpu(), out)
    out.square().sum().backward()
    found.square().sum().backward()
    torch.testing.assert_close(twin.weight.grad.cpu(), bags.weight.grad)
