// ATen/autocast_mode.h: AT_FORALL_LOWER_PRECISION_FP and its like.
#include "base/text.h"
#include "catalog/build.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

constexpr std::pair<std::string_view, std::string_view> kLists[] = {
    {"AT_FORALL_LOWER_PRECISION_FP", "lower_precision_fp"},
    {"AT_FORALL_FP32", "fp32"},
    {"AT_FORALL_FP32_SET_OPT_DTYPE", "fp32_set_opt_dtype"},
    {"AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE", "fp32_append_dtype"},
    {"AT_FORALL_PROMOTE", "promote"},
};

/// The body of `#define NAME(_)`, its continued lines joined; empty if there is none.
std::string macro_body(std::string_view header, std::string_view name) {
  const std::string start = fmt::format("#define {}(_)", name);
  std::size_t at = header.find(start);
  if (at == std::string_view::npos) return {};
  std::string body;
  for (at += start.size(); at < header.size() && header[at] != '\n'; ++at) {
    const bool continued = header.substr(at, 2) == "\\\n";
    body += continued ? ' ' : header[at];
    at += continued;
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
    out.push_back(mapped(split_top_level(std::string_view(body).substr(at + 2, end - at - 3), ','), one_space));
    at = body.find("_(", end);
  }
  return out;
}

}  // namespace

std::vector<AutocastRule> read_autocast_rules(std::string_view header) {
  std::vector<AutocastRule> rules;
  for (const auto& [macro, policy] : kLists) {
    const auto found = entries(macro_body(header, macro));
    if (found.empty()) return {};
    for (const auto& arguments : found) {
      std::string op;
      if (policy == "fp32_append_dtype") {  // a function, then the operator's name
        op = arguments.at(1);
        std::erase(op, '"');
      } else {
        op = fmt::format("{}", fmt::join(arguments, "."));
      }
      rules.push_back({std::string(policy), std::move(op), fmt::format("{}", fmt::join(arguments, ", "))});
    }
  }
  rules.push_back({std::string(kAutocastBanned), "binary_cross_entropy", {}});
  return rules;
}

}  // namespace openreg_gen
