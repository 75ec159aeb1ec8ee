# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Operators by the CPU's kernels; autograd; a network that trains."""

import copy
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils._pytree import tree_iter
from torch.utils.checkpoint import checkpoint

NAME = "openreg"
EXAMPLE = Path(__file__).parents[1] / "examples" / "train_mlp.py"

CALLS = {
    "add": lambda x, y: x + y,
    "matmul": lambda x, y: x @ y.t(),
    "in place": lambda x, y: x.clone().mul_(y),
    "out": lambda x, y: torch.add(x, y, out=torch.empty_like(x)),
    "sum": lambda x, y: x.sum(0) * y.mean(),
    "softmax": lambda x, y: torch.softmax(x, -1) - y,
    "list": lambda x, y: torch.cat([x, y, x[:1]]),
    "sort": lambda x, y: torch.sort(x + y, descending=True)[0],
    "where": lambda x, y: torch.where(x > y, x, 2),
    "index": lambda x, y: x[:, torch.tensor([2, 0], device=x.device)] + y[:, :2],
    "scalar": lambda x, y: x * y.max().item(),
    "foreach": lambda x, y: torch._foreach_add([x, y], 1)[1],
    "linalg": lambda x, y: torch.linalg.solve(x @ x.t() + 9 * torch.eye(5, device=x.device), y),
    "gelu": lambda x, y: nn.functional.gelu(x) + nn.functional.layer_norm(y, (7,)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CALLS)
def test_as_on_the_cpu(name, dtype, device):
    call, (x, y) = CALLS[name], torch.randn(2, 5, 7, dtype=dtype)
    result = call(x.to(device), y.to(device))
    assert result.device == device
    torch.testing.assert_close(result.cpu(), call(x, y))


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("out", "scalar", "foreach")])
def test_gradients_are_the_cpus(name, device):
    x, y = torch.randn(2, 5, 7)
    gradients = []
    for where in ("cpu", device):
        leaf = x.to(where, copy=True).requires_grad_()
        CALLS[name](leaf, y.to(where)).square().sum().backward()
        gradients.append(leaf.grad.cpu())
    torch.testing.assert_close(*gradients)


def image(x):
    return x.reshape(1, 1, 5, 7)


MODULES = {
    "conv2d": lambda: nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 2, groups=2)),
    "conv_transpose2d": lambda: nn.ConvTranspose2d(1, 4, 3, stride=2, bias=False),
    "batch_norm": lambda: nn.BatchNorm2d(1),
}
LAYERS = {
    "lstm": lambda: nn.LSTM(7, 3, num_layers=2, bidirectional=True),
    "gru": lambda: nn.GRU(7, 3, bias=False),
    "lstm_cell": lambda: nn.LSTMCell(7, 3),
    "gru_cell": lambda: nn.GRUCell(7, 3),
    "attention": lambda: nn.TransformerEncoderLayer(7, 1, 8, dropout=0),
}


@pytest.mark.parametrize("name", [*MODULES, *LAYERS])
def test_modules_as_on_the_cpu(name, device):
    """Forward, backward and buffers of what PyTorch gives to operators that have no kernel of the CPU by the same name."""
    here = (MODULES | LAYERS)[name]()
    there = copy.deepcopy(here).to(device)
    x = torch.randn(5, 7)
    found = []
    for module, where in ((here, "cpu"), (there, device)):
        leaf = x.to(where, copy=True).requires_grad_()
        results = module(image(leaf) if name in MODULES else leaf)
        results = [y for y in tree_iter(results) if isinstance(y, torch.Tensor)]
        sum(y.square().sum() for y in results).backward()
        gradients = [leaf.grad, *(p.grad for p in module.parameters())]
        found.append([y.detach().cpu() for y in (*results, *gradients, *module.buffers())])
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


def test_module_to_keeps_its_parameters(device):
    model = nn.Linear(3, 4)
    weight = model.weight
    model.to(device)
    assert model.weight is weight
    assert weight.device == device


def test_tensors_of_two_devices(device):
    with pytest.raises(RuntimeError):
        torch.ones(3, device=device) + torch.ones(3)


def test_a_network_trains_as_on_the_cpu(device):
    spec = importlib.util.spec_from_file_location("train_mlp", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    losses = example.main(["--device", str(device)])
    assert losses[-1] < losses[0] / 4
    expected = example.main(["--device", "cpu"])
    torch.testing.assert_close(torch.tensor(losses), torch.tensor(expected), rtol=1e-3, atol=1e-4)


def test_checkpointing_gives_the_same_gradients(device):
    model = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Linear(6, 6)).to(device)
    x = torch.randn(4, 6, device=device)
    gradients = []
    for forward in (model, lambda x: checkpoint(model, x, use_reentrant=False)):
        model.zero_grad()
        torch.manual_seed(1)
        forward(x).sum().backward()
        gradients.append([parameter.grad.cpu() for parameter in model.parameters()])
    torch.testing.assert_close(*gradients)


def test_a_resized_output_warns_as_on_the_cpu(device):
    with pytest.warns(UserWarning, match="was resized"):
        torch.add(torch.ones(3, device=device), 1, out=torch.empty(2, device=device))


def test_tensors_of_different_devices_are_refused(device, other):
    x, y = torch.ones(2, 2, device=device), torch.ones(2, 2, device=other)
    index = torch.tensor([0])
    for call in (
        lambda: torch.mm(x, torch.ones(2, 2)),
        lambda: torch.mm(x, y),
        lambda: torch.cat([x, y]),
        lambda: x.index_put_([index], torch.ones(1, 2)),
    ):
        with pytest.raises(RuntimeError, match="same device"):
            call()
    assert x[index].tolist() == [[1, 1]]
    x[index] = torch.tensor(3.0)
    assert x.tolist() == [[3, 3], [1, 1]]


def views(device):
    """Tensors that share memory, among them one whose elements do."""
    x = torch.arange(1.0, 13).to(device)
    return x, x[:6], x[3:9], x.view(3, 4).t(), x.as_strided((3, 3), (1, 1))


def conjugate(square):
    return torch.linalg.lu_solve(*torch.linalg.lu_factor(square), square, left=False, adjoint=True)


def gather_within(x):
    return torch.gather(x, 0, x[1:3], out=x[:1])


LIKE_THE_CPU = {
    "strides": lambda x, a, b, t, own: torch.isinf(t),
    "strides of out": lambda x, a, b, t, own: torch.linalg.inv(own + own.square(), out=x.new_empty(0)),
    "out of other strides": lambda x, a, b, t, own: torch.exp(t, out=x.new_empty(3, 4).t()),
    "out beside an argument": lambda x, a, b, t, own: torch.exp(x[:6], out=x[6:]),
    "elements between": lambda x, a, b, t, own: (x[::2].sin_(), x[::3].mul_(2)),
    "shared elements": lambda x, a, b, t, own: own.add_(1),
    "far apart": lambda x, a, b, t, own: torch.stack([x[:2], x[9:11]]) + x[10:],
    "list": lambda x, a, b, t, own: torch._foreach_add_([a, b[3:]], 1),
    "conjugate": lambda x, a, b, t, own: conjugate(torch.complex(own + own.square(), own)),
    "mode": lambda x, a, b, t, own: torch.mode(t, out=(x.new_empty(0), x.new_empty(0, dtype=torch.int64))),
}
REFUSED = {
    "overlap": (lambda x, a, b, t, own: torch.exp(a, out=b), "written-to"),
    "own overlap": (lambda x, a, b, t, own: torch.exp(x[0], out=x[:1].expand(3)), "written-to"),
    "grows into an argument": (lambda x, a, b, t, own: gather_within(x.long()), "written-to"),
    "grows": (lambda x, a, b, t, own: x[:1].logical_and_(t.clone()), "broadcast shape"),
    "addr_": (lambda x, a, b, t, own: x.view(1, 12).addr_(a[:5].clone(), x.clone()), "size mismatch"),
    "dtypes": (lambda x, a, b, t, own: nn.functional.layer_norm(t, (3,), a[:3].double()), "dtype|type"),
}


@pytest.mark.parametrize("name", LIKE_THE_CPU)
def test_memory_as_on_the_cpu(name, device):
    """Strides, sizes and what shares memory."""
    here, there = views("cpu"), views(device)
    expected, result = (list(tree_iter(LIKE_THE_CPU[name](*given))) for given in (here, there))
    for a, e in zip([*result, there[0]], [*expected, here[0]], strict=True):
        assert (a.device, a.shape, a.stride(), a.is_conj()) == (device, e.shape, e.stride(), e.is_conj())
        torch.testing.assert_close(a.cpu(), e, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_the_cpus_refusals(name, device):
    call, words = REFUSED[name]
    for given in (views("cpu"), views(device)):
        before = given[0].tolist()
        with pytest.raises(RuntimeError, match=words):
            call(*given)
        assert given[0].tolist() == before


def test_results_beside_a_number_of_the_host_are_on_the_device(device):
    x, number = torch.tensor([2.0, 3.0], device=device), torch.tensor(7.0)
    for result in (number // x, torch.rsub(number, x), torch.where(x > 2, number, number)):
        assert result.device == device
    assert (number // x).tolist() == [3, 2]
    with pytest.raises(RuntimeError, match="same device"):
        number.clone().index_fill_(0, torch.tensor([0], device=device), x[0])


def test_what_falls_back_can_be_found():
    made = "x = torch.ones(3, 3, device='openreg')"
    script = f"import torch, torch_openreg; {made}; print(x.cpu().sum()); torch.geqrf(x)"
    environment = {**os.environ, "OPENREG_FALLBACK": "none"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode != 0
    assert re.search(r"aten::geqrf\S* has no kernel", done.stderr)
