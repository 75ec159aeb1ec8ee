# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Recurrent layers, by the fused cells that PyTorch asks each device but the CPU for."""

import copy

import pytest
import torch
from torch import nn

NAME = "openreg"

LAYERS = {
    "lstm": (lambda: nn.LSTM(3, 4, num_layers=2), (5, 2, 3)),
    "bilstm": (lambda: nn.LSTM(3, 4, bias=False, bidirectional=True), (5, 2, 3)),
    "gru": (lambda: nn.GRU(3, 4, num_layers=2), (5, 2, 3)),
    "gru_plain": (lambda: nn.GRU(3, 4, bias=False), (5, 2, 3)),
    "gru, batch first": (lambda: nn.GRU(6, 8, num_layers=2, batch_first=True), (4, 5, 6)),
    "rnn": (lambda: nn.RNN(3, 4), (5, 2, 3)),
    "lstm_cell": (lambda: nn.LSTMCell(3, 4), (2, 3)),
    "gru_cell": (lambda: nn.GRUCell(3, 4), (2, 3)),
}


def first(out):
    return out[0] if isinstance(out, tuple) else out


@pytest.mark.parametrize(("layer", "shape"), LAYERS.values(), ids=LAYERS)
def test_layers_train_as_on_the_cpu(device, layer, shape):
    torch.manual_seed(0)
    cpu, x = layer(), torch.randn(shape)
    model = copy.deepcopy(cpu).to(device)
    found = {}
    for each, where in ((cpu, torch.device("cpu")), (model, device)):
        optimizer = torch.optim.SGD(each.parameters(), lr=0.1)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = (first(each(x.to(where))) - 1).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        found[where.type] = losses, [p.detach().cpu() for p in each.parameters()]
    for given, expected in zip(found[NAME], found["cpu"], strict=True):
        torch.testing.assert_close(given, expected, rtol=1e-4, atol=1e-5)
    assert found[NAME][0][-1] < found[NAME][0][0]


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])
def test_half_precision(device, layer):
    torch.manual_seed(0)
    cpu, x = layer(3, 4), torch.randn(5, 2, 3)
    y = first(copy.deepcopy(cpu).to(device, torch.float16)(x.to(device, torch.float16)))
    assert y.dtype == torch.float16
    torch.testing.assert_close(y.cpu().float(), first(cpu(x)), rtol=1e-2, atol=1e-2)


LSTMS = {
    "one layer": {},
    "three layers": {"num_layers": 3},
    "bidirectional": {"bidirectional": True, "num_layers": 2},
    "batch first": {"batch_first": True},
    "projected": {"proj_size": 3},
    "without bias": {"bias": False},
}


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
@pytest.mark.parametrize("given", [False, True], ids=["zeros", "hidden given"])
@pytest.mark.parametrize("options", LSTMS.values(), ids=LSTMS)
def test_lstm(device, options, given):
    torch.manual_seed(0)
    cpu_lstm, x = nn.LSTM(6, 5, **options), torch.randn(4, 4, 6)
    layers = options.get("num_layers", 1) * (2 if "bidirectional" in options else 1)
    hidden = torch.randn(layers, 4, options.get("proj_size", 5)), torch.randn(layers, 4, 5)
    lstm = copy.deepcopy(cpu_lstm).to(device)
    results = []
    for model, where in ((cpu_lstm, torch.device("cpu")), (lstm, device)):
        leaves = [t.detach().to(where).requires_grad_() for t in (x, *(hidden if given else ()))]
        y, (h, c) = model(leaves[0], tuple(leaves[1:]) or None)
        (y.square().sum() + h.sum() + 2 * c.sum()).backward()
        results.append([y, h, c, *(t.grad for t in leaves), *(p.grad for p in model.parameters())])
    for got, expected in zip(results[1], results[0], strict=True):
        assert got.device == device
        torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-5)


def test_packed_sequences(device):
    lengths = [4, 2, 1]
    x = torch.randn(3, 4, 6)
    lstm = nn.LSTM(6, 5, batch_first=True)
    expected, _ = lstm(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True))
    packed = nn.utils.rnn.pack_padded_sequence(x.to(device), lengths, batch_first=True)
    assert getattr(packed, f"is_{NAME}")
    got, _ = lstm.to(device)(packed)
    torch.testing.assert_close(got.data.cpu(), expected.data, rtol=1e-4, atol=1e-5)
