"""Operators whose kernels are the owner's: eager, compiled with dynamic sizes, exported, batched, with gradients.

scripts/nightly.sh runs it in a tree of ops.yaml with the kernels of this folder.
"""

import warnings

import pytest
import torch
from torch.func import grad, vmap

DEVICE = "openreg"
ops = torch.ops.openreg


def numbers(*shape, requires_grad=False):
    x = torch.arange(1, 1 + torch.Size(shape).numel(), dtype=torch.float32).reshape(shape) / 7
    return x.to(DEVICE).requires_grad_(requires_grad)


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*performance drop.*")  # PyTorch's own loop over a batch
        yield


CALLS = {
    "rows": lambda x: ops.rows(x, 1, x.shape[0] - 1),
    "doubled": lambda x: ops.doubled(x),
    "repeated": lambda x: ops.repeated(x, x.shape[1]),
    "shifted_sums": lambda x: ops.shifted_sums(x, dims=[1])[1],
    "both sums": lambda x: ops.shifted_sums(x, x * 2)[0].sum(0) + ops.shifted_sums(x)[1],
    "shortened": lambda x: ops.shortened([x.detach(), x.detach() * 2])[1] + x[0],
    "lengths": lambda x: ops.shortened([x.detach()], [x.shape[0] - 2])[0] + x[0],
    "affine": lambda x: ops.affine(x, x[0], 3, x.shape[0]),
    "affine.function": lambda x: ops.affine.function(x, x[0], 0.5),
}
CASES = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def run(call, x):
    x = x.detach().requires_grad_()
    result = call(x)
    (result * result.detach()).sum().backward()
    return result.detach(), x.grad


@CASES
@pytest.mark.parametrize("dynamic", [True, None])
def test_compiled_with_other_shapes(call, dynamic):
    compiled = torch.compile(lambda x: call(x * 1), backend="aot_eager", dynamic=dynamic, fullgraph=True)
    for shape in ((4, 3), (6, 3), (5, 9), (7, 4)):
        torch.testing.assert_close(run(compiled, numbers(*shape)), run(call, numbers(*shape)))


@CASES
def test_exported_with_a_dim(call):
    class Module(torch.nn.Module):
        def forward(self, x):
            return call(x)

    rows = torch.export.Dim("rows", min=4)
    exported = torch.export.export(Module(), (numbers(4, 5),), dynamic_shapes={"x": {0: rows}}).module()
    for size in (4, 6, 9):
        torch.testing.assert_close(exported(numbers(size, 5)), call(numbers(size, 5)))


@CASES
def test_vmap(call, request):
    x = numbers(2, 4, 3)
    if request.node.callspec.id == "doubled":
        with pytest.raises(RuntimeError):  # else its backward would be lost
            vmap(call)(x)
        return
    expected = torch.stack([call(each) for each in x])
    torch.testing.assert_close(vmap(call)(x), expected)
    torch.testing.assert_close(vmap(call, in_dims=2)(x.movedim(0, 2)), expected)
    torch.testing.assert_close(vmap(vmap(call))(torch.stack([x, x]))[1], expected)
    alone = torch.stack([run(call, each)[1] for each in x])
    gradient = grad(lambda x: (call(x) * call(x).detach()).sum())
    torch.testing.assert_close(torch.stack([gradient(each) for each in x]), alone)
    torch.testing.assert_close(vmap(gradient)(x), alone)
    torch.testing.assert_close(run(vmap(call), x)[1], alone)


def test_the_kernels_compute_what_they_should():
    x = numbers(4, 3)
    assert torch.equal(ops.rows(x, 1, 3), x[1:3])
    assert torch.equal(run(CALLS["doubled"], x)[1], 2 * x)
    assert torch.equal(ops.repeated(x, 2), torch.stack([x, x]))
    assert torch.equal(ops.shifted_sums(x, x)[0], 2 * x)
    assert torch.equal(ops.shortened([x])[0], x[:3])
    torch.testing.assert_close(ops.affine(x, x, 2, 3), (x * x + 2) * 3)


def test_views():
    x = numbers(4, 3)
    ops.rows(x, 1, 3).zero_()
    assert not x[1:3].cpu().any()
    leaf = numbers(4, 3, requires_grad=True)
    base = leaf * 1
    ops.rows(base, 0, 2).mul_(3)
    base.sum().backward()
    assert torch.equal(leaf.grad.cpu(), torch.tensor([[3.0] * 3] * 2 + [[1.0] * 3] * 2))
    view = ops.doubled(leaf * 1)
    with pytest.raises(RuntimeError, match="view"):
        view.add_(1)

    def written(x):
        x = x * 1
        ops.rows(x, 0, 2).add_(5)
        return x

    torch.testing.assert_close(torch.compile(written, backend="aot_eager", dynamic=True)(x), written(x))


@pytest.mark.parametrize("bump", [ops.bump, ops.bump_])
def test_writes(bump):
    x = numbers(4, 3)
    expected = x + 2
    version = x._version
    result = bump(x, 2)
    assert x._version > version
    assert torch.equal(x, expected)
    if bump is ops.bump_:
        assert result is x
    with pytest.raises(NotImplementedError, match="no derivative"):
        bump((numbers(2, requires_grad=True) * 1), 1)

    def function(x):
        x = x * 1
        bump(x, x.shape[0])
        return x * 2

    compiled = torch.compile(function, backend="aot_eager", dynamic=True, fullgraph=True)
    for size in (3, 5):
        x = numbers(size, 3)
        torch.testing.assert_close(compiled(x), function(x))
        many = x.unsqueeze(0).repeat(2, 1, 1)
        torch.testing.assert_close(vmap(function)(many), torch.stack([function(x), function(x)]))
