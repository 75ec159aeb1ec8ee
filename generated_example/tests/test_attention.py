# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""F.scaled_dot_product_attention: which implementation is taken, and that it computes what the CPU does."""

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

# Whether the spec names kernels of fused attention: forward, and backward.
FUSED = True
TRAINS = True
BEST = SDPBackend.OVERRIDEABLE if FUSED else SDPBackend.MATH
CASES = {
    "plain": {},
    "scale": {"scale": 0.3},
    "causal": {"is_causal": True},
    "longer keys": {"keys": 9},
    "causal, longer keys": {"keys": 9, "is_causal": True},
    "wider values": {"width": 6},
    "boolean mask": {"mask": torch.bool},
    "additive mask": {"mask": torch.float64},
    "grouped queries": {"groups": 2, "enable_gqa": True},
    "one group": {"groups": 1, "enable_gqa": True, "is_causal": True},
}


def arguments(device, keys=5, width=8, groups=4, mask=None, dtype=torch.float64, **options):
    """query, key, value and mask as on the CPU, each a leaf that requires a gradient, and the other arguments."""
    generator = torch.Generator().manual_seed(1)
    shapes = [(2, 4, 5, 8), (2, groups, keys, 8), (2, groups, keys, width)]
    tensors = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    if mask is torch.bool:
        tensors.append(torch.rand(5, keys, generator=generator) > 0.3)
        tensors[3][2] = False  # nothing to attend to
    elif mask is not None:
        tensors.append(torch.randn((2, 1, 5, keys), generator=generator, dtype=torch.float64))
    tensors = [x if x.dtype == torch.bool else x.to(dtype) for x in tensors]
    return [x.to(device).requires_grad_(x.dtype != torch.bool) for x in tensors], options


class OperatorNames(TorchDispatchMode):
    """The names of the operators that run."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(func._schema.name.removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients(device, case):
    results = []
    for where in (device, "cpu"):
        tensors, options = arguments(where, **CASES[case])
        with sdpa_kernel([SDPBackend.MATH, SDPBackend.OVERRIDEABLE]):
            output = F.scaled_dot_product_attention(*tensors, **options)
        weights = torch.arange(output.numel(), dtype=torch.float64).reshape(output.shape) / output.numel()
        (output * weights.to(where)).sum().backward()
        results.append([output.detach(), *(x.grad for x in tensors if x.requires_grad)])
    assert results[0][0].device == device
    for actual, expected in zip(*results, strict=True):
        torch.testing.assert_close(actual.cpu(), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_dtypes(device, dtype):
    tensors, options = arguments(device, dtype=dtype, is_causal=True)
    with torch.no_grad():
        actual = F.scaled_dot_product_attention(*tensors, **options)
        expected = F.scaled_dot_product_attention(*[x.cpu().float() for x in tensors], **options)
    assert actual.dtype == dtype
    torch.testing.assert_close(actual.cpu().float(), expected, rtol=2e-2, atol=2e-2)


def test_gradients_lie_as_what_they_are_of(device):
    """As fake tensors have them, and torch.compile takes them."""
    tensors = [torch.randn(2, 5, 4, 8, device=device).transpose(1, 2).requires_grad_() for _ in range(3)]
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.OVERRIDEABLE]):
        F.scaled_dot_product_attention(*tensors).sum().backward()
    assert [x.grad.stride() for x in tensors] == [x.stride() for x in tensors]


def test_choice(device):
    def choice(*tensors, **options):
        return SDPBackend(torch._fused_sdp_choice(*tensors, **options))

    tensors, _ = arguments(device)
    inference = [x.detach() for x in tensors]
    assert choice(*inference) == BEST
    assert choice(*inference, dropout_p=0.5, is_causal=True) == BEST
    assert choice(*tensors) == (BEST if TRAINS else SDPBackend.MATH)
    with torch.no_grad():
        assert choice(*tensors) == BEST
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        assert choice(*inference) == SDPBackend.MATH
    grouped, _ = arguments(device, groups=2)
    grouped = [x.detach() for x in grouped]
    assert choice(*grouped, enable_gqa=True) == BEST
    # What fused kernels need not know.
    assert choice(*[x[0] for x in inference]) == SDPBackend.MATH
    assert choice(*[x[:0] for x in inference]) == SDPBackend.MATH


def test_the_spec_s_kernels_are_reached(device):
    tensors, _ = arguments(device, mask=torch.float64)
    fused = "_scaled_dot_product_fused_attention_overrideable"
    with OperatorNames() as seen, torch.no_grad():
        F.scaled_dot_product_attention(*tensors)
    assert (fused in seen.names) == FUSED
    with OperatorNames() as seen:
        F.scaled_dot_product_attention(*tensors).sum().backward()
    assert (fused in seen.names) == TRAINS
    assert (f"{fused}_backward" in seen.names) == TRAINS
    assert not [name for name in seen.names if "flash" in name or "efficient" in name]


def test_dropout(device):
    (query, key, _), _ = arguments(device)
    # The weights are the output.
    value = torch.eye(5, dtype=torch.float64).expand(2, 4, 5, 5).to(device).requires_grad_()

    def dropped(p):
        torch.manual_seed(3)
        return F.scaled_dot_product_attention(query, key, value, dropout_p=p)

    whole, output = dropped(0.0).detach().cpu(), dropped(0.5)
    torch.testing.assert_close(output, dropped(0.5))
    host = output.detach().cpu()
    kept = host != 0
    assert kept.any()
    assert not kept.all()
    torch.testing.assert_close(host[kept], 2 * whole[kept])
    # Backward drops the same.
    weights = torch.arange(output.numel(), dtype=torch.float64).reshape(output.shape)
    grads = torch.autograd.grad((output * weights.to(device)).sum(), [query, key, value])
    torch.testing.assert_close(grads[2].cpu(), host.transpose(-2, -1) @ weights)
    first, second = (x.detach().cpu().requires_grad_() for x in (query, key))
    scores = (first @ second.transpose(-2, -1)) / 8**0.5
    expected = torch.autograd.grad((scores.softmax(-1) * kept * 2 * weights).sum(), [first, second])
    torch.testing.assert_close(grads[0].cpu(), expected[0])
    torch.testing.assert_close(grads[1].cpu(), expected[1])
    assert not dropped(1.0).detach().cpu().any()


def test_gradcheck(device):
    """Tries undefined gradients, too."""
    tensors, _ = arguments(device, keys=3)
    tensors = [x.detach()[:1, :1, :2, :2].clone().requires_grad_() for x in tensors]
    assert torch.autograd.gradcheck(F.scaled_dot_product_attention, tensors)


def test_transforms(device):
    tensors, _ = arguments(device)
    host, _ = arguments("cpu")
    stacked = [torch.stack([x, 2 * x]).detach() for x in tensors]
    expected = [F.scaled_dot_product_attention(*(n * x for x in host)) for n in (1, 2)]
    actual = torch.vmap(F.scaled_dot_product_attention)(*stacked)
    torch.testing.assert_close(actual.cpu(), torch.stack(expected).detach())
    total = torch.func.grad(lambda *args: F.scaled_dot_product_attention(*args).sum())
    torch.testing.assert_close(total(*[x.detach() for x in tensors]).cpu(), total(*[x.detach() for x in host]))


def test_compiled(device):
    compiled = torch.compile(F.scaled_dot_product_attention, backend="aot_eager", dynamic=True)
    for keys in (5, 7, 11):
        results = []
        for function in (compiled, F.scaled_dot_product_attention):
            tensors, _ = arguments(device, keys=keys)
            output = function(*tensors)
            output.sum().backward()
            results.append([output.detach(), *(x.grad for x in tensors)])
        torch.testing.assert_close(*results)


def test_modules(device):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True).double()
    x = torch.randn(2, 6, 16, dtype=torch.float64)
    for training in (True, False):
        layer.train(training)
        expected = layer.cpu()(x).detach()
        with torch.set_grad_enabled(training):
            actual = layer.to(device)(x.to(device))
        torch.testing.assert_close(actual.detach().cpu(), expected)
