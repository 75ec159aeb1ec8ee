#include "strategy/starter.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

constexpr std::string_view kForward = "_scaled_dot_product_fused_attention_overrideable";
constexpr std::string_view kBackward = "_scaled_dot_product_fused_attention_overrideable_backward";
constexpr std::string_view kChoice = "_fused_sdp_choice";

}  // namespace

Starter starter(std::string_view op) {
  const std::string ordered = "AT_EXPAND(AT_ALL_TYPES), at::kBool, at::kHalf, at::kBFloat16";
  std::vector<std::string> dtypes{"uint8",   "int8",     "int16",   "int32",  "int64",
                                  "float16", "bfloat16", "float32", "float64"};
  dtypes.insert(dtypes.end(), op == "abs.out" ? std::initializer_list<std::string>{"complex64", "complex128"}
                                              : std::initializer_list<std::string>{"bool"});
  // The NaN of either argument wins, as PyTorch has it.
  if (op == "maximum.out")
    return {"at::_isnan(self) || self > other ? self : other",
            "x_self != x_self || x_self > x_other ? x_self : x_other", ordered, dtypes};
  if (op == "minimum.out")
    return {"at::_isnan(self) || self < other ? self : other",
            "x_self != x_self || x_self < x_other ? x_self : x_other", ordered, dtypes};
  if (op == "abs.out")
    return {"std::abs(self)", "", "AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), at::kHalf, at::kBFloat16", dtypes};
  return {};
}

bool of_attention(std::string_view op) { return op == kForward || op == kBackward || op == kChoice; }

std::string attention_start(std::string_view op) {
  if (op == kForward) return "attention_by_math";
  return op == kBackward ? "attention_backward_by_math" : "";
}

bool is_attention_choice(std::string_view op) { return op == kChoice; }

void add_attention(StrategySummary& listed) {
  const auto named = [&](const char* list, std::string_view name) {
    return std::ranges::any_of(listed.of(list), [&](const auto& item) { return item->op == name; });
  };
  listed.out("fused_attention", named("native", kForward))("fused_attention_backward", named("native", kBackward))(
      "attention_choice", named("stub", kChoice));
}

}  // namespace openreg_gen
