#include "model/release_guard.h"

#include "base/text.h"
#include "releases/releases.h"

#include <fmt/format.h>

namespace openreg_gen {

ReleaseGuard release_guard(std::string_view op, const Spec& spec, std::string_view since, std::string_view until) {
  const auto first = torch_release(*spec.torch.min), last = torch_release(*spec.torch.max);
  if (!first || !last) return {};
  TorchRelease from = torch_release(since).value_or(*first), to = torch_release(until).value_or(*last);
  if (const OpRelease* declared = find_op_release(op)) {
    from = std::max(from, torch_release(declared->since).value_or(from));
    to = std::min(to, torch_release(declared->until).value_or(to));
  }
  if (from <= *first && to >= *last) return {};
  const std::string name = upper_case(*spec.backend.name) + "_TORCH_RELEASE";
  std::string condition;
  if (from > *first) condition = fmt::format("{} >= {}", name, release_number(from));
  if (to < *last) condition += fmt::format("{}{} <= {}", condition.empty() ? "" : " && ", name, release_number(to));
  return {condition, fmt::format("(({}, {}), ({}, {}))", from.first, from.second, to.first, to.second)};
}

}  // namespace openreg_gen
