"""Memory of host code as on the CPU: strides, sizes and what shares memory; the CPU's refusals; numbers of the host."""

import pytest
import torch
from torch import nn
from torch.utils._pytree import tree_iter


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
    "copy into nothing": (lambda x, a, b, t, own: x.new_empty(0).copy_(a), "size"),
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
