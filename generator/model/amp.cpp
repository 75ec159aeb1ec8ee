#include "model/amp.h"

#include "schema/schema.h"
#include "diag/failure.h"
#include "base/text.h"
#include "spec/amp_preset.h"
#include "system/files.h"
#include "texts/ops_texts.h"

namespace openreg_gen {
namespace {

struct Macro {
  const char* name;
  const char* policy;
};
constexpr Macro kMacros[] = {
    {"AT_FORALL_LOWER_PRECISION_FP", "lower_precision_fp"},
    {"AT_FORALL_FP32", "fp32"},
    {"AT_FORALL_FP32_SET_OPT_DTYPE", "fp32_set_opt_dtype"},
    {"AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE", "fp32_append_dtype"},
    {"AT_FORALL_PROMOTE", "promote"},
};

/// The body of `#define NAME(_)`, its continued lines joined.
std::string macro_body(std::string_view header, const std::string& name) {
  const std::string start = "#define " + name + "(_)";
  std::size_t at = header.find(start);
  if (at == std::string_view::npos) {
    throw Failure(Exit::Environment, "E0403", "ATen/autocast_mode.h of the installed PyTorch has no list " + name,
                  "use `amp: {preset: none}`, or a PyTorch within the spec's range");
  }
  std::string body;
  for (at += start.size(); at < header.size(); ++at) {
    if (header[at] == '\\' && at + 1 < header.size() && header[at + 1] == '\n') {
      ++at;
      body += ' ';
    } else if (header[at] == '\n') {
      break;
    } else {
      body += header[at];
    }
  }
  return body;
}

std::string one_space(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool space = c == ' ' || c == '\t';
    if (space && (out.empty() || out.back() == ' ' || out.back() == '(')) continue;
    out += space ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

/// The arguments of each `_(...)` in a macro's body.
std::vector<std::vector<std::string>> entries(const std::string& body) {
  std::vector<std::vector<std::string>> out;
  for (std::size_t at = body.find("_("); at != std::string::npos;) {
    int depth = 1;
    std::size_t end = at + 2;
    for (; end < body.size() && depth > 0; ++end) depth += body[end] == '(' ? 1 : body[end] == ')' ? -1 : 0;
    std::vector<std::string> arguments;
    for (std::string_view piece : split_top_level(std::string_view(body).substr(at + 2, end - at - 3), ','))
      arguments.push_back(one_space(piece));
    out.push_back(std::move(arguments));
    at = body.find("_(", end);
  }
  return out;
}

AmpRule simple_rule(const std::string& op, const std::string& policy) {
  const std::size_t dot = op.find('.');
  const std::string base = op.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : ", " + op.substr(dot + 1);
  return {op, "KERNEL_PRIVATEUSEONE(" + base + overload + ", " + policy + ")"};
}

AmpRule redispatch_rule(const std::vector<std::string>& arguments) {
  std::string op = arguments.at(1);
  std::erase(op, '"');
  return {op, "KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE(" + join(arguments) + ")"};
}

std::string without_namespace(std::string name) { return name.starts_with("aten::") ? name.substr(6) : name; }

/// Takes `op` out of all lists; a name without overload means all its overloads.
void remove_rule(std::vector<AmpPolicy>& policies, const std::string& op) {
  for (AmpPolicy& policy : policies)
    std::erase_if(policy.rules, [&](const AmpRule& rule) {
      return rule.op == op || (!contains(op, '.') && rule.op.starts_with(op + "."));
    });
}

/// What the header doesn't list: CUDA registers it by hand.
AmpPolicy banned() {
  AmpPolicy policy{std::string(kAmpBanned), {}};
  for (const AmpPresetRule& rule : amp_preset()) {
    if (rule.policy != kAmpBanned) continue;
    const std::string op(rule.op);
    policy.rules.push_back({op, "m.impl(\"" + op + "\", TORCH_FN(" + op + "_banned));"});
  }
  return policy;
}

}  // namespace

std::vector<AmpPolicy> read_amp_policies(std::string_view header) {
  std::vector<AmpPolicy> policies;
  for (const Macro& macro : kMacros) {
    AmpPolicy policy{macro.policy, {}};
    for (const auto& arguments : entries(macro_body(header, macro.name))) {
      if (policy.name == "fp32_append_dtype") {
        policy.rules.push_back(redispatch_rule(arguments));
      } else {
        const std::string overload = arguments.size() > 1 ? "." + arguments[1] : "";
        policy.rules.push_back(simple_rule(arguments[0] + overload, policy.name));
      }
    }
    policies.push_back(std::move(policy));
  }
  return policies;
}

AmpContext amp_context(const Spec& spec, const Catalog& catalog) {
  std::vector<AmpPolicy> policies;
  if (spec.amp.preset.value == "none") {
    policies = mapped(kMacros, [](const Macro& macro) -> AmpPolicy { return {macro.policy, {}}; });
  } else {
    policies = read_amp_policies(read_file(catalog.torch_dir() / "include/ATen/autocast_mode.h", "E0403",
                                           "use `amp: {preset: none}`, or a whole PyTorch with --torch",
                                           ", which lists PyTorch's autocast rules"));
    policies.push_back(banned());
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
      policy.rules.push_back(simple_rule(op, policy.name));
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
                                      std::ranges::find(policies, kAmpBanned, &AmpPolicy::name) != policies.end());
}

}  // namespace openreg_gen
