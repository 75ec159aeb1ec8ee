// PyTorch's own lists of autocast rules (ATen/autocast_mode.h, AT_FORALL_...), and the one operator that CUDA bans:
// what `amp.preset: cuda` stands for.
#pragma once

#include <span>
#include <string_view>

namespace openreg_gen {

/// The policy of operators that raise an error under autocast. A spec can lift it by `amp.remove`, and give it to none.
inline constexpr std::string_view kAmpBanned = "banned";

struct AmpPresetRule {
  std::string_view op;  // "conv2d", "pow.Tensor_Scalar"
  std::string_view
      policy;  // "lower_precision_fp", "fp32", "fp32_set_opt_dtype", "fp32_append_dtype", "promote", "banned"
};

/// Sorted by op. A test compares it with the installed header.
std::span<const AmpPresetRule> amp_preset();
/// Null if the preset has no rule for `op`.
const AmpPresetRule* find_amp_rule(std::string_view op);

}  // namespace openreg_gen
