# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Autograd on device tensors: leaves, graphs, what is recorded and what is not."""

import copy
from pathlib import Path

import pytest
import torch

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


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="thread names are read from /proc")
def test_each_device_has_a_thread_of_the_engine(x):
    x.sum().backward()
    names = {path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")}
    assert {f"pt_autograd_{index}" for index in range(api.device_count())} <= names
