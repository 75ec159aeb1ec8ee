"""Networks on the OpenVINO port, against the CPU: scripts/nightly.sh compiler runs this where a tree with the port is installed."""

import pytest
import torch
from torch import nn
from torch_mybackend._graph import executables

F = nn.functional
api = torch.mybackend


@pytest.fixture(autouse=True)
def _nothing_compiled():
    executables.forget()
    api.reset_compilations()


def mlp():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))


def cnn():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=2), nn.BatchNorm2d(16), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4),
    )  # fmt: skip


class Transformer(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=dropout, batch_first=True, activation="gelu")
        self.head = nn.Linear(32, 4)

    def forward(self, tokens):
        return self.head(self.layer(self.embedding(tokens)).mean(1))


NETWORKS = {"mlp": (mlp, (16,)), "cnn": (cnn, (3, 16, 16)), "transformer": (Transformer, (10,))}


def data(name, batch):
    random = torch.Generator().manual_seed(batch)
    size = (batch, *NETWORKS[name][1])
    given = (
        torch.randint(0, 50, size, generator=random) if name == "transformer" else torch.randn(size, generator=random)
    )
    return given, torch.randint(0, 4, (batch,), generator=random)


def train(name, device, optimizer, wrap=lambda model: model, batches=(8, 8, 8, 6, 6)):
    """Losses, parameters and statistics, and how many graphs each step compiled."""
    torch.manual_seed(0)
    model = NETWORKS[name][0]().to(device)
    run, steps, losses, counts = wrap(model), optimizer(model.parameters()), [], []
    for batch in batches:
        before = len(api.compilations())
        given, target = (each.to(device) for each in data(name, batch))
        steps.zero_grad()
        loss = F.cross_entropy(run(given), target)
        loss.backward()
        steps.step()
        losses.append(loss.item())
        counts.append(len(api.compilations()) - before)
    return losses, {key: each.detach().cpu() for key, each in model.state_dict().items()}, counts


def adam(parameters):
    # Without eps, it would divide the rounding errors of gradients that are zero by themselves.
    return torch.optim.AdamW(parameters, lr=1e-2, eps=1e-3)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-2)


@pytest.mark.parametrize("optimizer", [sgd, adam])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_trains_and_a_second_step_compiles_nothing(name, optimizer):
    losses, state, _ = train(name, "cpu", optimizer)
    ours, moved, counts = train(name, "mybackend", optimizer)
    torch.testing.assert_close(ours, losses, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(moved, state, rtol=1e-3, atol=1e-4)
    assert counts[1] == counts[2] == counts[4] == 0
    assert 0 < counts[3] < counts[0]  # the graphs of the optimizer do not know the batch size
    # The counter of batches that batch normalization has seen is an integer, and OpenVINO's integers have 32 bits.
    assert {row.category for row in api.refusals()} <= {"dtype"}


def test_a_learning_rate_that_changes_compiles_nothing():
    given, target = (each.to("mybackend") for each in data("mlp", 8))
    model = mlp().to("mybackend")
    steps = adam(model.parameters())
    for step in range(4):
        steps.param_groups[0]["lr"] = 1e-2 / (step + 1)
        steps.zero_grad()
        F.cross_entropy(model(given), target).backward()
        steps.step()
        if step == 0:
            api.reset_compilations()
    assert api.compilations() == []
    assert api.refusals() == []


def test_dropout_draws_from_the_devices_generator():
    layer, given = nn.Dropout(0.25), torch.ones(64, 64, device="mybackend", requires_grad=True)
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(layer(given))
    first, again, other = (each.detach().cpu() for each in results)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert 0.2 < (first == 0).float().mean() < 0.3
    results[0].sum().backward()
    assert torch.equal(given.grad.cpu(), first)
    model = Transformer(dropout=0.5).to("mybackend")
    model(data("transformer", 8)[0].to("mybackend")).sum().backward()
    assert {row.op for row in api.refusals()} <= {"aten::bernoulli_.float"}


R = torch.randn
OPERATORS = {
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, 2, 1, 2, 2), R(3, 4, 11, 10), R(6, 2, 3, 3), R(6)),
    "conv1d": (lambda x, w: F.conv1d(x, w, stride=3), R(2, 4, 11), R(6, 4, 2)),
    "conv3d": (lambda x, w, b: F.conv3d(x, w, b, padding=1), R(2, 2, 5, 6, 4), R(3, 2, 3, 3, 3), R(3)),
    "depthwise": (lambda x, w, b: F.conv2d(x, w, b, padding=1, groups=4), R(2, 4, 6, 6), R(8, 1, 3, 3), R(8)),
    "transposed": (lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1, 2), R(2, 4, 5, 6), R(4, 3, 3, 3), R(6)),
    "dilated": (lambda x, w: F.conv_transpose2d(x, w, dilation=2), R(2, 4, 5, 6), R(4, 3, 3, 3)),
    "channels last": (lambda x, w: F.conv2d(x.to(memory_format=torch.channels_last), w), R(2, 3, 7, 8), R(4, 3, 3, 3)),
    "batch norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), R(5, 4), R(4), R(4)),
    "batch norm, no training": (
        lambda x, w, b: F.batch_norm(x, torch.ones_like(w), torch.full_like(w, 2), w, b), R(5, 4, 3), R(4), R(4)
    ),
    "layer norm": (lambda x, w, b: F.layer_norm(x, (7,), w, b), R(3, 7), R(7), R(7)),
    "group norm": (lambda x, w, b: F.group_norm(x, 2, w, b), R(3, 4, 5), R(4), R(4)),
    "max pool": (lambda x: F.max_pool2d(x, 3, 2, 1), R(2, 3, 7, 8)),
    "attention": (lambda *x: F.scaled_dot_product_attention(*x, is_causal=True), *R(3, 2, 2, 5, 8).unbind()),
    "embedding": (lambda w: F.embedding(torch.arange(12, device=w.device).view(3, 4) % 5, w), R(5, 6)),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_and_its_gradient(name):
    operator, *operands = OPERATORS[name]
    here = [each.clone().requires_grad_() for each in operands]
    there = [each.to("mybackend").requires_grad_() for each in operands]
    expected, result = operator(*here), operator(*there)
    gradient = torch.randn(expected.shape)
    expected.backward(gradient), result.backward(gradient.to("mybackend"))
    torch.testing.assert_close(result.cpu(), expected, rtol=1e-4, atol=1e-4)
    for a, b in zip(there, here, strict=True):
        torch.testing.assert_close(a.grad.cpu(), b.grad, rtol=1e-4, atol=1e-4)
    assert {row.category for row in api.refusals()} <= {"dtype"}  # of arange and the remainder
    assert api.compilations()


def test_running_statistics():
    def statistics(device, **options):
        torch.manual_seed(0)
        layer, given = nn.BatchNorm2d(4, **options).to(device), torch.randn(3, 4, 5, 6).to(device)
        for scale in (1, 2, 3):
            layer(given * scale)
        return [each.cpu() for each in layer.buffers()]

    for momentum in (0.1, None):  # None: the average of all batches, so that it is another number each time
        torch.testing.assert_close(statistics("mybackend", momentum=momentum), statistics("cpu", momentum=momentum))
    names = [row.graph for row in api.compilations() if "native_batch_norm" in row.graph]
    assert len(names) <= 2
