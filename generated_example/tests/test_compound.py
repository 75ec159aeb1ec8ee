# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
"""Sparse, nested and quantized tensors: what is more than memory with sizes and strides."""

import copy
import io
import warnings

import pytest
import torch
from torch import nn

NAME = "openreg"
api = torch.openreg
pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse (CSR tensor support|invariant checks):UserWarning"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*quantized tensor creation functions:UserWarning"),
]


def sparse(where, coalesced=False):
    indices = torch.tensor([[0, 1, 1, 2], [1, 0, 0, 2]])
    x = torch.sparse_coo_tensor(indices, torch.tensor([2.0, 3.0, 4.0, -1.0]), (3, 4)).to(where)
    return x.coalesce() if coalesced else x


def nested(where):
    return torch.nested.nested_tensor([torch.arange(6.0).view(2, 3), torch.ones(4, 3)], device=where)


def quantized(where, dtype=torch.qint8):
    return torch.quantize_per_tensor(torch.tensor([[-1.0, 0.0, 0.5], [1.0, 2.3, 9.0]]).to(where), 0.1, 10, dtype)


def plain(x):
    """A tensor of any kind as a plain one of the CPU."""
    if x.is_nested:
        return x.cpu().to_padded_tensor(-7.0)
    if x.is_quantized:
        return x.cpu().dequantize()
    return x.cpu().to_dense()


def check(device, call, make):
    found, expected = call(make(device)), call(make("cpu"))
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        if not isinstance(y, torch.Tensor):
            assert x == y
            continue
        assert x.device == device
        assert (x.layout, x.is_nested, x.dtype) == (y.layout, y.is_nested, y.dtype)
        torch.testing.assert_close(plain(x), plain(y))


SPARSE = {
    "parts": lambda x: (x._indices(), x._values(), x._nnz(), x.is_coalesced(), x.sparse_dim(), x.dense_dim()),
    "coalesce": lambda x: (x.coalesce(), x.coalesce().indices(), x.coalesce().values(), x.coalesce().is_coalesced()),
    "to dense": lambda x: x.to_dense(),
    "from dense": lambda x: torch.eye(3, device=x.device).to_sparse(),
    "empty": lambda x: torch.empty(2, 3, layout=torch.sparse_coo, device=x.device),
    "clone": lambda x: x.clone(),
    "dtype": lambda x: x.double(),
    "sum": lambda x: (x + x, torch.ones(3, 4, device=x.device) + x, x - 2 * x, -x),
    "product": lambda x: (x * x, x * 3, x / 2, x.coalesce() ** 2, x.abs(), x.coalesce().tanh()),
    "matrices": lambda x: (x @ torch.ones(4, 2, device=x.device), torch.sparse.mm(x, x.t())),
    "addmm": lambda x: torch.sparse.addmm(torch.ones(3, 2, device=x.device), x, torch.ones(4, 2, device=x.device)),
    "reduced": lambda x: (x.sum(), torch.sparse.sum(x, 0), torch.norm(x), torch.sparse.softmax(x, 1)),
    "transposed": lambda x: x.t(),
    "selected": lambda x: (x[1], torch.index_select(x, 0, torch.tensor([2, 1], device=x.device))),
    "cat": lambda x: (torch.cat([x, x]), torch.stack([x, x])),
    "mask": lambda x: torch.ones(3, 4, device=x.device).sparse_mask(x.coalesce()),
    "written": lambda x: (x.mul_(2), x.add_(x.clone()), x),
    "zeroed": lambda x: (x.zero_(), x),
    "dense written": lambda x: torch.ones(3, 4, device=x.device).add_(x, alpha=2),
    "out": lambda x: torch.add(x, x, out=torch.empty(3, 4, layout=torch.sparse_coo, device=x.device)),
    "compressed": lambda x: (x.to_sparse_csr().to_dense(), x.to_sparse_csr() @ torch.ones(4, 2, device=x.device)),
    "compressed parts": lambda x: (x.to_sparse_csr().crow_indices(), x.to_sparse_csr().values()),
}


@pytest.mark.parametrize("call", SPARSE.values(), ids=SPARSE)
def test_sparse(device, call):
    check(device, call, sparse)


def test_parts_of_a_sparse_tensor_are_its_memory(device):
    x = sparse(device, coalesced=True)
    values = x.values()
    values.fill_(5)
    assert x.to_dense().sum().item() == 15
    x.mul_(2)
    assert values.tolist() == [10, 10, 10]


def test_sparse_gradients(device):
    grads = []
    for where in (device, "cpu"):
        x, y = sparse(where, coalesced=True).requires_grad_(), torch.ones(4, 2, device=where, requires_grad=True)
        torch.sparse.mm(x, y * 2).square().sum().backward()
        grads.append((x.grad, y.grad))
    for found, expected in zip(*grads, strict=True):
        assert found.device == device
        torch.testing.assert_close(plain(found), plain(expected))


OPTIMIZERS = {
    "SparseAdam": lambda parameters: torch.optim.SparseAdam(parameters, lr=0.1),
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "Adagrad": lambda parameters: torch.optim.Adagrad(parameters, lr=0.1),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_sparse_embeddings_train(device, optimizer):
    torch.manual_seed(0)
    host = nn.Embedding(6, 3, sparse=True), nn.EmbeddingBag(6, 3, sparse=True, mode="sum")
    layers = copy.deepcopy(host)
    for (words, bags), where in ((host, "cpu"), (layers, device)):
        words.to(where)
        bags.to(where)
        stepper = optimizer([words.weight, bags.weight])
        index, offsets = torch.tensor([1, 1, 2, 4], device=where), torch.tensor([0, 3], device=where)
        for _ in range(3):
            stepper.zero_grad()
            for _ in range(2):  # gradients accumulate
                (words(index).square().sum() + bags(index, offsets).square().sum()).backward()
            assert words.weight.grad.is_sparse
            assert bags.weight.grad.is_sparse
            stepper.step()
    for layer, expected in zip(layers, host, strict=True):
        assert layer.weight.grad.device == device
        torch.testing.assert_close(layer.weight.detach().cpu(), expected.weight.detach())


NESTED = {
    "padded": lambda x: x.to_padded_tensor(0.0),
    "unbound": lambda x: x.unbind(),
    "sizes": lambda x: (x._nested_tensor_size().tolist(), x.size(0), x.dim(), x.is_contiguous()),
    "pointwise": lambda x: (x * 2, x + x, torch.relu(x), x.clone()),
    "dtype": lambda x: x.double(),
    "linear": lambda x: nn.functional.linear(x, torch.ones(2, 3, device=x.device)),
    "softmax": lambda x: x.softmax(-1),
    "transposed": lambda x: x.transpose(1, 2).contiguous(),
    "written": lambda x: (x.mul_(3), x),
    "of tensors": lambda x: torch.nested.as_nested_tensor([torch.ones(2, device=x.device), torch.zeros(3, device=x.device)]),
    "jagged": lambda x: torch.nested.nested_tensor(
        [torch.ones(2), torch.zeros(3)], layout=torch.jagged, device=x.device
    ).sin().to_padded_tensor(9.0),
}  # fmt: skip


@pytest.mark.parametrize("call", NESTED.values(), ids=NESTED)
def test_nested(device, call):
    check(device, call, nested)


def test_nested_gradients(device):
    x, y = (torch.ones(n, 3, device=device, requires_grad=True) for n in (2, 4))
    (torch.nested.as_nested_tensor([x * 2, y]).to_padded_tensor(0.0) * 3).sum().backward()
    assert torch.equal(x.grad.cpu(), torch.full((2, 3), 6.0))
    assert torch.equal(y.grad.cpu(), torch.full((4, 3), 3.0))


def test_an_encoder_leaves_padding_out(device):
    """In inference, nn.TransformerEncoder makes a nested tensor of what is not padding."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    x, padding = torch.randn(2, 3, 8), torch.tensor([[False, False, True], [False, False, False]])
    with torch.no_grad():
        expected = encoder(x, src_key_padding_mask=padding)
        found = encoder.to(device)(x.to(device), src_key_padding_mask=padding.to(device))
    assert found.device == device
    torch.testing.assert_close(found.cpu(), expected)


QUANTIZED = {
    "dequantized": lambda x: x.dequantize(),
    "stored": lambda x: x.int_repr(),
    "scheme": lambda x: (x.q_scale(), x.q_zero_point(), x.qscheme(), x.dtype),
    "clone": lambda x: x.clone(),
    "views": lambda x: (x.view(6), x[1], x[1:]),
    "shape": lambda x: torch._empty_affine_quantized([2, 2], scale=0.1, zero_point=0, dtype=x.dtype, device=x.device).shape,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.qint8, torch.quint8, torch.qint32], ids=str)
@pytest.mark.parametrize("call", QUANTIZED.values(), ids=QUANTIZED)
def test_quantized(device, call, dtype):
    check(device, call, lambda where: quantized(where, dtype))


@pytest.mark.parametrize("scale", [0.01, 0.5, 2.0])
def test_scales_of_quantized_tensors(device, scale):
    x = torch.linspace(-3, 3, 13)
    expected = torch.quantize_per_tensor(x, scale, 2, torch.qint8)
    found = torch.quantize_per_tensor(x.to(device), scale, 2, torch.qint8)
    assert torch.equal(found.int_repr().cpu(), expected.int_repr())
    assert torch.equal(found.dequantize().cpu(), expected.dequantize())


def test_a_quantizer_that_the_device_has_not(device):
    with pytest.raises(NotImplementedError, match="per_channel_affine"):
        torch.quantize_per_channel(
            torch.ones(2, 2, device=device), torch.ones(2).to(device), torch.zeros(2).to(device), 0, torch.qint8
        )


@pytest.mark.parametrize("make", [sparse, nested, quantized])
def test_copies(device, other, make):
    expected = plain(make("cpu"))
    there = make("cpu").to(device)
    elsewhere = there.to(other)
    assert (there.device, elsewhere.device) == (device, other)
    assert torch.equal(plain(elsewhere), expected)
    assert elsewhere.to("cpu").device.type == "cpu"
    assert f"device='{device}'" in repr(there) or make is quantized  # PyTorch prints no device of those


@pytest.mark.parametrize("make", [sparse, quantized])
def test_saved_and_loaded(device, make):
    file = io.BytesIO()
    torch.save(make(device), file)
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = torch.load(file)
    assert loaded.device == device
    assert torch.equal(plain(loaded), plain(make("cpu")))


def test_what_it_costs_is_counted(device):
    x = sparse(device)
    api.reset_fallback_report()
    x.coalesce()
    count = next((count for count in api.fallback_report() if count.op == "aten::_coalesce"), None)
    if count is None:
        pytest.skip("the spec gives _coalesce a kernel")
    assert count.bytes_to_host == 4 * (2 * 8 + 4)
    assert count.bytes_to_device == 3 * (2 * 8 + 4)
    assert count.kind == "copy"
