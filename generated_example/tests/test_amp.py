# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `amp` in the spec changes it, then `openreg-gen generate`.
"""Autocast: one operator of each policy in each dtype, and the gradient scaler."""

import pytest
import torch

NAME = "openreg"
DTYPES = [
    torch.float16,
    torch.bfloat16,
]
# Operators by policy, as registered.
REGISTERED = {
    "lower_precision_fp": """
_convolution.deprecated _convolution conv1d conv2d conv3d
        conv_tbc conv_transpose1d conv_transpose2d.input conv_transpose3d.input convolution
        addmm addmv addr matmul einsum
        mm mv linalg_vecdot linear addbmm
        baddbmm bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell
        _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
        _scaled_dot_product_flash_attention scaled_dot_product_attention
    """,
    "fp32": """
acos asin cosh erfinv exp
        expm1 log log10 log2 log1p
        reciprocal rsqrt sinh tan pow.Tensor_Scalar
        pow.Tensor_Tensor pow.Scalar softplus layer_norm native_layer_norm
        rms_norm group_norm frobenius_norm.dim nuclear_norm nuclear_norm.dim
        cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d
        hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss
        mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss
        multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist
        renorm logsumexp upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d
        _upsample_nearest_exact2d upsample_nearest3d _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d
        _upsample_bilinear2d_aa upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa logaddexp
    """,
    "fp32_set_opt_dtype": """
prod prod.dim_int softmax.int log_softmax.int cumprod
        cumsum linalg_vector_norm linalg_matrix_norm linalg_matrix_norm.str_ord sum
        sum.dim_IntList
    """,
    "fp32_append_dtype": """
norm.Scalar norm.ScalarOpt_dim
    """,
    "promote": """
addcdiv addcmul atan2 bilinear cross
        dot vdot grid_sampler index_put tensordot
        scatter_add
    """,
    "banned": """
binary_cross_entropy
    """,
}
RULES = {policy: ops.split() for policy, ops in REGISTERED.items()}
HALVES = pytest.mark.parametrize("dtype", DTYPES, ids=str)


@pytest.fixture
def x(device):
    return torch.rand(4, 4, generator=torch.Generator().manual_seed(0)).to(device)


def needs(policy, op):
    if op not in RULES.get(policy, ()):
        pytest.skip(f"the spec gives {op} no rule {policy}")


@pytest.mark.parametrize(("policy", "op"), [(policy, op) for policy, ops in RULES.items() for op in ops])
def test_registered(policy, op):
    assert torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{op}", "AutocastPrivateUse1")


def test_supported_dtypes():
    supported = torch.get_device_module(NAME).get_amp_supported_dtype()
    assert set(supported) == set(DTYPES)


def test_other_dtypes_turn_autocast_off(x):
    with pytest.warns(UserWarning), torch.autocast(NAME, dtype=torch.float64):
        assert not torch.is_autocast_enabled(NAME)


def test_outside_nothing_changes(x):
    assert torch.mm(x, x).dtype == torch.float32
    assert torch.mm(x.half(), x.half()).dtype == torch.float16


@HALVES
def test_lower_precision(x, dtype):
    needs("lower_precision_fp", "mm")
    with torch.autocast(NAME, dtype=dtype):
        y = torch.mm(x, x)
        with torch.autocast(NAME, enabled=False):
            assert torch.mm(x, x).dtype == torch.float32
    assert y.dtype == dtype
    torch.testing.assert_close(y.float().cpu(), x.cpu() @ x.cpu(), rtol=2e-2, atol=2e-2)


@HALVES
def test_inputs_of_several_dtypes(x, dtype):
    needs("lower_precision_fp", "mm")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.mm(x, x.to(dtype)).dtype == dtype
        assert torch.mm(x.to(dtype), x.to(dtype)).dtype == dtype
        assert torch.mm(x.double(), x.double()).dtype == torch.float64  # nothing is cast from there


@HALVES
def test_one_rule_after_another(x, dtype):
    needs("lower_precision_fp", "mm")
    needs("fp32", "exp")
    with torch.autocast(NAME, dtype=dtype):
        y = torch.exp(torch.mm(x, x))
        z = torch.mm(y, x)
    assert (y.dtype, z.dtype) == (torch.float32, dtype)
    x = x.cpu()
    torch.testing.assert_close(z.float().cpu(), (x @ x).exp() @ x, rtol=5e-2, atol=5e-2)


def test_the_dtype_that_is_set(x):
    needs("lower_precision_fp", "mm")
    before = torch.get_autocast_dtype(NAME)
    assert before in DTYPES
    for dtype in DTYPES:
        torch.set_autocast_dtype(NAME, dtype)
        try:
            with torch.autocast(NAME):
                assert torch.mm(x, x).dtype == torch.get_autocast_dtype(NAME) == dtype
        finally:
            torch.set_autocast_dtype(NAME, before)


def test_contexts_nest(x):
    needs("lower_precision_fp", "mm")

    def state():
        return torch.is_autocast_enabled(NAME), torch.get_autocast_dtype(NAME)

    outside = state()
    with torch.autocast(NAME, dtype=DTYPES[0]):
        with torch.autocast(NAME, enabled=False):
            assert not torch.is_autocast_enabled(NAME)
            with torch.autocast(NAME, dtype=DTYPES[-1]):
                assert torch.mm(x, x).dtype == DTYPES[-1]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.mm(x.cpu(), x.cpu()).dtype == torch.bfloat16
        assert state() == (True, DTYPES[0])
        assert torch.mm(x, x).dtype == DTYPES[0]
    assert state() == outside


@pytest.mark.parametrize("cached", [True, False])
def test_casts_of_weights_are_cached(x, cached):
    needs("lower_precision_fp", "mm")
    weight = torch.ones(4, 4, device=x.device, requires_grad=True)
    with torch.autocast(NAME, cache_enabled=cached):
        first = torch.mm(x, weight)
        weight.data.zero_()  # autograd does not see it, and the cache neither
        second = torch.mm(x, weight)
    assert torch.equal(first.cpu(), second.cpu()) == cached


@HALVES
def test_fp32(x, dtype):
    needs("fp32", "exp")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.exp(x.to(dtype)).dtype == torch.float32
        assert torch.exp(x).dtype == torch.float32


@HALVES
def test_fp32_set_opt_dtype(x, dtype):
    needs("fp32_set_opt_dtype", "sum")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.sum(x.to(dtype)).dtype == torch.float32
        assert torch.sum(x.to(dtype), dtype=torch.float64).dtype == torch.float64


@HALVES
def test_fp32_append_dtype(x, dtype):
    needs("fp32_append_dtype", "norm.Scalar")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.ops.aten.norm.Scalar(x.to(dtype), 2).dtype == torch.float32


@HALVES
def test_promote(x, dtype):
    needs("promote", "addcmul")
    with torch.autocast(NAME, dtype=dtype):
        assert torch.addcmul(x, x.to(dtype), x).dtype == torch.float32
        assert torch.addcmul(x.to(dtype), x.to(dtype), x.to(dtype)).dtype == dtype


@HALVES
def test_no_rule_no_cast(x, dtype):
    with torch.autocast(NAME, dtype=dtype):
        assert (x + x).dtype == torch.float32
        assert (x.to(dtype) + x.to(dtype)).dtype == dtype


def test_banned(x):
    """In the words of CUDA's rule, which takes tensors of any device."""
    needs("banned", "binary_cross_entropy")
    cuda = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)
    with pytest.raises(RuntimeError) as expected:
        torch.ops.aten.binary_cross_entropy.default.redispatch(cuda, torch.rand(2), torch.rand(2))
    layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Sigmoid()).to(x.device)
    with torch.autocast(NAME):
        with pytest.raises(RuntimeError) as found:
            torch.nn.functional.binary_cross_entropy(layer(x), x)
        with torch.autocast(NAME, enabled=False):
            torch.nn.functional.binary_cross_entropy(layer(x), x)
    assert str(found.value) == str(expected.value)
    torch.nn.functional.binary_cross_entropy(layer(x), x)


@HALVES
def test_gradients_have_the_parameters_dtype(x, dtype):
    layer = torch.nn.Linear(4, 2).to(x.device)
    with torch.autocast(NAME, dtype=dtype):
        loss = layer(x).float().square().mean()
    loss.backward()
    assert layer.weight.grad.dtype == torch.float32


def test_scaler(x):
    layer = torch.nn.Linear(4, 2).to(x.device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(NAME, init_scale=1024.0, growth_interval=1)
    before = layer.weight.detach().clone()
    scaler.scale(layer(x).square().mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2048.0
    assert not torch.equal(layer.weight.cpu(), before.cpu())
    before = layer.weight.detach().clone()
    optimizer.zero_grad()
    scaler.scale(layer(x * float("inf")).square().mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 1024.0
    assert torch.equal(layer.weight.cpu(), before.cpu())  # a step with infinite gradients is left out
