#include "spec/amp_preset.h"

#include <algorithm>

namespace openreg_gen {
namespace {

constexpr AmpPresetRule kRules[] = {
    {"_convolution", "lower_precision_fp"}, {"_convolution.deprecated", "lower_precision_fp"},
    {"_scaled_dot_product_flash_attention", "lower_precision_fp"}, {"_thnn_fused_gru_cell", "lower_precision_fp"},
    {"_thnn_fused_lstm_cell", "lower_precision_fp"}, {"_upsample_bicubic2d_aa", "fp32"},
    {"_upsample_bilinear2d_aa", "fp32"}, {"_upsample_nearest_exact1d", "fp32"}, {"_upsample_nearest_exact2d", "fp32"},
    {"_upsample_nearest_exact3d", "fp32"}, {"acos", "fp32"}, {"addbmm", "lower_precision_fp"}, {"addcdiv", "promote"},
    {"addcmul", "promote"}, {"addmm", "lower_precision_fp"}, {"addmv", "lower_precision_fp"},
    {"addr", "lower_precision_fp"}, {"asin", "fp32"}, {"atan2", "promote"}, {"baddbmm", "lower_precision_fp"},
    {"bilinear", "promote"}, {"binary_cross_entropy_with_logits", "fp32"}, {"bmm", "lower_precision_fp"},
    {"cdist", "fp32"}, {"chain_matmul", "lower_precision_fp"}, {"conv1d", "lower_precision_fp"},
    {"conv2d", "lower_precision_fp"}, {"conv3d", "lower_precision_fp"}, {"conv_tbc", "lower_precision_fp"},
    {"conv_transpose1d", "lower_precision_fp"}, {"conv_transpose2d.input", "lower_precision_fp"},
    {"conv_transpose3d.input", "lower_precision_fp"}, {"convolution", "lower_precision_fp"}, {"cosh", "fp32"},
    {"cosine_embedding_loss", "fp32"}, {"cosine_similarity", "fp32"}, {"cross", "promote"},
    {"cumprod", "fp32_set_opt_dtype"}, {"cumsum", "fp32_set_opt_dtype"}, {"dist", "fp32"}, {"dot", "promote"},
    {"einsum", "lower_precision_fp"}, {"erfinv", "fp32"}, {"exp", "fp32"}, {"expm1", "fp32"},
    {"frobenius_norm.dim", "fp32"}, {"grid_sampler", "promote"}, {"group_norm", "fp32"},
    {"gru_cell", "lower_precision_fp"}, {"hinge_embedding_loss", "fp32"}, {"huber_loss", "fp32"},
    {"index_put", "promote"}, {"kl_div", "fp32"}, {"l1_loss", "fp32"}, {"layer_norm", "fp32"},
    {"linalg_matrix_norm", "fp32_set_opt_dtype"}, {"linalg_matrix_norm.str_ord", "fp32_set_opt_dtype"},
    {"linalg_multi_dot", "lower_precision_fp"}, {"linalg_vecdot", "lower_precision_fp"},
    {"linalg_vector_norm", "fp32_set_opt_dtype"}, {"linear", "lower_precision_fp"}, {"log", "fp32"},
    {"log10", "fp32"}, {"log1p", "fp32"}, {"log2", "fp32"}, {"log_softmax.int", "fp32_set_opt_dtype"},
    {"logsumexp", "fp32"}, {"lstm_cell", "lower_precision_fp"}, {"margin_ranking_loss", "fp32"},
    {"matmul", "lower_precision_fp"}, {"mm", "lower_precision_fp"}, {"mse_loss", "fp32"},
    {"multi_margin_loss", "fp32"}, {"multilabel_margin_loss", "fp32"}, {"mv", "lower_precision_fp"},
    {"native_layer_norm", "fp32"}, {"nll_loss", "fp32"}, {"nll_loss2d", "fp32"}, {"norm.Scalar", "fp32_append_dtype"},
    {"norm.ScalarOpt_dim", "fp32_append_dtype"}, {"nuclear_norm", "fp32"}, {"nuclear_norm.dim", "fp32"},
    {"pdist", "fp32"}, {"poisson_nll_loss", "fp32"}, {"pow.Scalar", "fp32"}, {"pow.Tensor_Scalar", "fp32"},
    {"pow.Tensor_Tensor", "fp32"}, {"prelu", "lower_precision_fp"}, {"prod", "fp32_set_opt_dtype"},
    {"prod.dim_int", "fp32_set_opt_dtype"}, {"reciprocal", "fp32"}, {"renorm", "fp32"}, {"rms_norm", "fp32"},
    {"rnn_relu_cell", "lower_precision_fp"}, {"rnn_tanh_cell", "lower_precision_fp"}, {"rsqrt", "fp32"},
    {"scaled_dot_product_attention", "lower_precision_fp"}, {"scatter_add", "promote"}, {"sinh", "fp32"},
    {"smooth_l1_loss", "fp32"}, {"soft_margin_loss", "fp32"}, {"softmax.int", "fp32_set_opt_dtype"},
    {"softplus", "fp32"}, {"sum", "fp32_set_opt_dtype"}, {"sum.dim_IntList", "fp32_set_opt_dtype"}, {"tan", "fp32"},
    {"tensordot", "promote"}, {"triplet_margin_loss", "fp32"}, {"upsample_bicubic2d", "fp32"},
    {"upsample_bilinear2d", "fp32"}, {"upsample_linear1d", "fp32"}, {"upsample_nearest1d", "fp32"},
    {"upsample_nearest2d", "fp32"}, {"upsample_nearest3d", "fp32"}, {"upsample_trilinear3d", "fp32"},
    {"vdot", "promote"},
};

}  // namespace

std::span<const AmpPresetRule> amp_preset() { return kRules; }

const AmpPresetRule* find_amp_rule(std::string_view op) {
  const auto found = std::ranges::lower_bound(kRules, op, {}, &AmpPresetRule::op);
  return found != std::end(kRules) && found->op == op ? &*found : nullptr;
}

}  // namespace openreg_gen
