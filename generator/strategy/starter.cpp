#include "strategy/starter.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

constexpr std::string_view kForward = "_scaled_dot_product_fused_attention_overrideable";
constexpr std::string_view kBackward = "_scaled_dot_product_fused_attention_overrideable_backward";
constexpr std::string_view kChoice = "_fused_sdp_choice";

constexpr std::string_view kInOpenCl =
    "_foreach_add.List _foreach_add_.List _foreach_add_.Scalar _foreach_addcdiv_.ScalarList _foreach_addcmul_.Scalar "
    "_foreach_div_.ScalarList _foreach_lerp_.Scalar _foreach_mul_.Scalar _foreach_sqrt "
    "_fused_adam_ _fused_adamw_ _fused_sgd_ _log_softmax.out _log_softmax_backward_data.out _softmax.out "
    "_softmax_backward_data.out arange.start_out avg_pool2d.out avg_pool2d_backward.grad_input bernoulli_.float "
    "cat.out embedding_dense_backward gather.out gelu.out gelu_backward.grad_input index_select index_select.out "
    "masked_fill_.Scalar masked_fill_.Tensor max_pool2d_with_indices.out max_pool2d_with_indices_backward.grad_input "
    "native_batch_norm_backward native_layer_norm native_layer_norm_backward nll_loss_backward.grad_input "
    "nll_loss_forward.output normal_ tril.out triu.out uniform_ where.self where.self_out";

}  // namespace

bool starts_in_opencl(std::string_view op) { return has_word(kInOpenCl, op); }

Starter starter(std::string_view op) {
  const std::string ordered = "AT_EXPAND(AT_ALL_TYPES), at::kBool, at::kHalf, at::kBFloat16";
  // The NaN of either argument wins, as PyTorch has it.
  if (op == "maximum.out")
    return {"at::_isnan(self) || self > other ? self : other",
            "x_self != x_self || x_self > x_other ? x_self : x_other", ordered};
  if (op == "minimum.out")
    return {"at::_isnan(self) || self < other ? self : other",
            "x_self != x_self || x_self < x_other ? x_self : x_other", ordered};
  if (op == "abs.out") return {"std::abs(self)", "", "AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), at::kHalf, at::kBFloat16"};
  return {};
}

bool of_attention(std::string_view op) { return op == kForward || op == kBackward || op == kChoice; }

std::string attention_start(std::string_view op) {
  if (op == kForward) return "attention_by_math";
  return op == kBackward ? "attention_backward_by_math" : "";
}

bool is_attention_choice(std::string_view op) { return op == kChoice; }

void add_attention(Listed& listed) {
  const auto named = [&](const char* list, std::string_view name) {
    return std::ranges::any_of(listed.of(list), [&](const auto& item) { return item->op == name; });
  };
  listed.out("fused_attention", named("native", kForward))("fused_attention_backward", named("native", kBackward))(
      "attention_choice", named("stub", kChoice));
}

}  // namespace openreg_gen
