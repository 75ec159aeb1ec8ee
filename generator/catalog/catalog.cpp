#include "catalog/catalog.h"

#include "base/text.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

std::string_view name_of(const Op& op) { return op.name; }

}  // namespace

std::string Op::ops_struct() const { return "at::_ops::" + base + (overload.empty() ? "" : "_" + overload); }

std::string Op::signature() const {
  const auto texts = mapped(arguments, [](const Argument& a) { return a.type + " " + a.name; });
  return fmt::format("{} ({})", returns, fmt::join(texts, ", "));
}

bool Op::has_tag(std::string_view tag) const { return std::ranges::binary_search(tags, tag); }

std::string Op::native_struct(const std::string& dispatch_key) const {
  if (dispatch_key != "CPU" && dispatch_key != "CUDA" && dispatch_key != "MPS")
    return {};  // others are plain functions
  const auto kernel = kernels.find(dispatch_key);
  return structured && kernel != kernels.end() ? "at::native::structured_" + kernel->second : "";
}

const Op* Catalog::find(std::string_view name) const {
  if (name.starts_with("aten::")) name.remove_prefix(6);
  return find_sorted(ops, name, name_of);
}

std::vector<const Op*> Catalog::overloads(std::string_view base) const {
  if (base.starts_with("aten::")) base.remove_prefix(6);
  std::vector<const Op*> result;
  for (auto at = std::ranges::lower_bound(ops, base, {}, name_of); at != ops.end() && at->name.starts_with(base);
       ++at) {
    if (at->base == base) result.push_back(&*at);
  }
  return result;
}

std::vector<std::string> served_forms(const Op& op, const Catalog& catalog) {
  std::vector<std::string> served;
  for (const std::string& name : op.variants) {
    const Op* form = catalog.find(name);
    if (form == nullptr || op.has_default) continue;  // with two defaults it is unknown which ends in which
    const bool delegates = form->structured_delegate == op.name;
    if (delegates || (form->has_default && form->structured_delegate.empty())) served.push_back(name);
  }
  return served;
}

}  // namespace openreg_gen
