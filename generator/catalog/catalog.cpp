#include "catalog/catalog.h"

#include <algorithm>

namespace openreg_gen {

std::string_view to_string(OpClass op_class) {
  constexpr std::string_view kWords[] = {"structured", "native", "composite", "view", "factory", "random"};
  return kWords[static_cast<std::size_t>(op_class)];
}

std::string Op::ops_struct() const { return "at::_ops::" + base + (overload.empty() ? "" : "_" + overload); }

std::string Op::signature() const {
  std::string result = returns + " (";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i != 0) result += ", ";
    result += arguments[i].type + " " + arguments[i].name;
  }
  return result + ")";
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
  const auto at = std::ranges::lower_bound(ops, name, {}, [](const Op& op) -> std::string_view { return op.name; });
  return at != ops.end() && at->name == name ? &*at : nullptr;
}

std::span<const Op> Catalog::all() const { return ops; }

std::vector<const Op*> Catalog::overloads(std::string_view base) const {
  if (base.starts_with("aten::")) base.remove_prefix(6);
  std::vector<const Op*> result;
  const auto begin = std::ranges::lower_bound(ops, base, {}, [](const Op& op) -> std::string_view { return op.name; });
  for (auto at = begin; at != ops.end() && at->name.starts_with(base); ++at) {
    if (at->base == base) result.push_back(&*at);
  }
  return result;
}

const std::string& Catalog::torch_version() const { return version_; }
const std::filesystem::path& Catalog::torch_dir() const { return dir_; }
const std::string& Catalog::identity() const { return identity_; }

}  // namespace openreg_gen
