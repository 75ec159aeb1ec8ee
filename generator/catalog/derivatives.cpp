#include "catalog/derivatives.h"

#include "catalog/build.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

namespace openreg_gen {
namespace {

std::optional<Derivative> entry_of(const std::string& yaml, const std::string& name) {
  const std::string head = "\n- name: " + name + "(";
  const std::size_t begin = ("\n" + yaml).find(head);
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t end = yaml.find("\n- name: ", begin + 1);
  Derivative found{name, {}};
  try {
    const YAML::Node list = YAML::Load(yaml.substr(begin, end == std::string::npos ? end : end - begin));
    YAML::Node entry = list[0];
    if (entry["dispatch"] && entry["dispatch"]["Default"]) entry = entry["dispatch"]["Default"];
    for (const auto& pair : entry) {
      const auto key = pair.first.as<std::string>();
      if (key == "name" || key == "dispatch" || key.starts_with("result")) continue;  // results: forward mode
      found.formulas.emplace_back(key,
                                  pair.second.IsScalar() ? pair.second.as<std::string>() : YAML::Dump(pair.second));
    }
  } catch (const YAML::Exception&) {
    // An entry that is not understood still says that there is one.
  }
  return found;
}

}  // namespace

fs::path find_derivatives(const fs::path& torch) {
  const auto native = find_sources(torch).native_functions.parent_path();  // torchgen/packaged/ATen/native
  const auto path = native.parent_path().parent_path() / "autograd/derivatives.yaml";
  std::error_code error;
  return fs::exists(path, error) ? path : fs::path();
}

std::optional<Derivative> find_derivative(const std::string& yaml, const Op& op, const Catalog& catalog) {
  if (auto own = entry_of(yaml, op.name)) return own;
  if (op.kind != SchemaKind::Inplace) return std::nullopt;
  for (const std::string& variant : op.variants) {
    const Op* other = catalog.find(variant);
    if (!other || other->kind != SchemaKind::Functional) continue;
    if (auto entry = entry_of(yaml, variant)) return entry;
  }
  return std::nullopt;
}

std::string about_autograd(const Op& op, const std::optional<Derivative>& derivative) {
  if (op.composite_implicit) {
    return "its gradient comes from the operators that it calls; a kernel at PrivateUse1 would replace them, gradients "
           "included";
  }
  if (op.kind == SchemaKind::Out)
    return "an out form records no gradient: PyTorch refuses arguments that require one. The functional form has it";
  const auto is_tensor = [](const Argument& a) { return a.schema_type.starts_with("Tensor"); };
  if (std::ranges::none_of(op.arguments, is_tensor)) return "it takes no tensor, so there is nothing to differentiate";
  const auto& formulas = derivative ? derivative->formulas : decltype(derivative->formulas){};
  if (formulas.size() == 1 && formulas[0].first == "output_differentiability" &&
      formulas[0].second.find("True") == std::string::npos) {
    return "its result has no gradient";
  }
  if (derivative) {
    return fmt::format(
        "PyTorch has a formula{}: it records the call at its Autograd key, then calls the kernel at "
        "PrivateUse1. You don't have to write a gradient",
        derivative->op == op.name ? "" : fmt::format(", that of '{}'", derivative->op));
  }
  return "no formula: backward raises \"derivative for aten::" + op.base +
         " is not implemented\", unless its results "
         "can't have a gradient";
}

}  // namespace openreg_gen
