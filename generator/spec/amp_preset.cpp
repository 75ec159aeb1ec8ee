// Written by scripts/facts.py; see docs/releases.md.
#include "spec/amp_preset.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

struct Rules {
  std::string_view policy, ops;
};

// clang-format off
constexpr Rules kRules[] = {
    {"banned", "binary_cross_entropy"},
    {"fp32",
     "_upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d "
     "_upsample_nearest_exact3d acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss "
     "cosine_similarity dist erfinv exp expm1 frobenius_norm.dim group_norm hinge_embedding_loss huber_loss kl_div "
     "l1_loss layer_norm log log10 log1p log2 logsumexp margin_ranking_loss mse_loss multi_margin_loss "
     "multilabel_margin_loss native_layer_norm nll_loss nll_loss2d nuclear_norm nuclear_norm.dim pdist "
     "poisson_nll_loss pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor reciprocal renorm rms_norm rsqrt sinh "
     "smooth_l1_loss soft_margin_loss softplus tan triplet_margin_loss upsample_bicubic2d upsample_bilinear2d "
     "upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d"},
    {"fp32_append_dtype", "norm.Scalar norm.ScalarOpt_dim"},
    {"fp32_set_opt_dtype",
     "cumprod cumsum linalg_matrix_norm linalg_matrix_norm.str_ord linalg_vector_norm log_softmax.int prod "
     "prod.dim_int softmax.int sum sum.dim_IntList"},
    {"lower_precision_fp",
     "_convolution _convolution.deprecated _scaled_dot_product_flash_attention _thnn_fused_gru_cell "
     "_thnn_fused_lstm_cell addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc "
     "conv_transpose1d conv_transpose2d.input conv_transpose3d.input convolution einsum gru_cell linalg_multi_dot "
     "linalg_vecdot linear lstm_cell matmul mm mv prelu rnn_relu_cell rnn_tanh_cell scaled_dot_product_attention"},
    {"promote", "addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot vdot"},
};
// clang-format on

}  // namespace

std::span<const AmpPresetRule> amp_preset() {
  static const auto rules = [] {
    std::vector<AmpPresetRule> out;
    for (const auto& [policy, ops] : kRules)
      for (const std::string_view op : words_of(ops)) out.push_back({op, policy});
    std::ranges::sort(out, {}, &AmpPresetRule::op);
    return out;
  }();
  return rules;
}

const AmpPresetRule* find_amp_rule(std::string_view op) { return find_sorted(amp_preset(), op, &AmpPresetRule::op); }

}  // namespace openreg_gen
