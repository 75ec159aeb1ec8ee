#include "model/amp.h"

#include "base/text.h"
#include "diag/failure.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

constexpr std::string_view kPolicies = "lower_precision_fp fp32 fp32_set_opt_dtype fp32_append_dtype promote banned";

AmpRule make_rule(const std::string& op, std::string_view policy) {
  const std::size_t dot = op.find('.');
  const std::string base = op.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : ", " + op.substr(dot + 1);
  return {op, fmt::format("KERNEL_PRIVATEUSEONE({}{}, {})", base, overload, policy)};
}

AmpRule make_rule(const AutocastRule& rule) {
  if (rule.policy == "fp32_append_dtype")
    return {rule.op, fmt::format("KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE({})", rule.arguments)};
  if (rule.policy == kAutocastBanned) return {rule.op, fmt::format("m.impl(\"{0}\", TORCH_FN({0}_banned));", rule.op)};
  return make_rule(rule.op, rule.policy);
}

std::string without_namespace(std::string name) { return name.starts_with("aten::") ? name.substr(6) : name; }

/// Removes `op` from all lists; a name without overload means all its overloads.
void remove_rule(std::vector<AmpPolicy>& policies, const std::string& op) {
  for (AmpPolicy& policy : policies)
    std::erase_if(policy.rules, [&](const AmpRule& rule) {
      return rule.op == op || (!contains(op, '.') && rule.op.starts_with(op + "."));
    });
}

}  // namespace

AmpContext amp_context(const Spec& spec, const Catalog& catalog) {
  auto policies =
      mapped(words_of(kPolicies), [](std::string_view word) -> AmpPolicy { return {std::string(word), {}}; });
  if (*spec.amp.preset != "none") {
    if (catalog.autocast.empty()) {
      throw Failure(
          Exit::Environment, "E0403",
          "ATen/autocast_mode.h, which lists PyTorch's autocast rules, is missing or has unexpected lists in " +
              catalog.torch_dir().string(),
          "use `amp: {preset: none}`, or name a complete PyTorch with --torch");
    }
    for (const AutocastRule& rule : catalog.autocast)
      std::ranges::find(policies, rule.policy, &AmpPolicy::name)->rules.push_back(make_rule(rule));
  }
  for (const auto& op : spec.amp.remove) remove_rule(policies, without_namespace(op.value));
  for (AmpPolicy& policy : policies) {
    const auto added = spec.amp.add.find(policy.name);
    if (added == spec.amp.add.end()) continue;
    for (const auto& written : added->second) {
      const std::string op = without_namespace(written.value);
      const bool there = std::ranges::any_of(policy.rules, [&](const AmpRule& rule) { return rule.op == op; });
      if (there) continue;
      for (AmpPolicy& other : policies) std::erase_if(other.rules, [&](const AmpRule& rule) { return rule.op == op; });
      policy.rules.push_back(make_rule(op, policy.name));
    }
  }
  std::erase_if(policies, [](const AmpPolicy& policy) { return policy.rules.empty(); });
  AmpContext out{{}, std::move(policies)};
  for (const auto& dtype : spec.amp.dtypes.value) out.dtypes.push_back({dtype.value});
  return out;
}

void AmpContext::Dtype::print(Fields out) const {
  out("name", name)("py", "torch." + name)("cpp", name == "bfloat16" ? "at::kBFloat16" : "at::kHalf");
}

void AmpContext::print(Fields out) const {
  PRINT_FIELDS(out, dtypes, policies)("bans",
                                      std::ranges::find(policies, kAutocastBanned, &AmpPolicy::name) != policies.end());
}

}  // namespace openreg_gen
