#include "catalog/in_tree.h"

#include "catalog/facts.h"
#include "diag/text.h"

#include <algorithm>
#include <iterator>

namespace openreg_gen {
namespace {

/// Stubs whose operands differ in dtype because they are meant to.
bool mixes_dtypes(std::string_view stub) {
  return stub == "complex_stub" || stub == "polar_stub" || stub == "frexp_stub";
}

}  // namespace

std::optional<std::vector<DispatchStub>> in_tree_stubs(std::string_view op) {
  const InTreeRow* row = find_in_tree_row(op);
  if (row == nullptr) return std::nullopt;
  std::vector<DispatchStub> stubs;
  for (const std::string_view name : words_of(row->stubs)) stubs.push_back(dispatch_stub(std::string(name)));
  return stubs;
}

std::string_view strides_of_result_like_self(std::string_view op) {
  if (op == "abs.out") return "{}";
  return op == "nan_to_num.out" ? "self.strides()" : "";
}

std::string_view self_as_on_the_cpu(std::string_view op) {
  // The gradient finds the largest element by self.abs() == result, which the sum's std::abs misses by a bit.
  if (op == "linalg_vector_norm.out") return "self.is_complex() && std::isinf(ord.toDouble()) ? self.abs() : self";
  return "";
}

DispatchStub dispatch_stub(const std::string& name) {
  const std::string family(find_stub_declaration(name)->family);
  constexpr std::string_view elementwise[] = {"Activation", "BinaryOps", "Lerp", "PointwiseOps", "Pow", "UnaryOps"};
  const bool promotes = contains(elementwise, family) || name.starts_with("clamp");
  return {name, family, promotes && !mixes_dtypes(name)};
}

}  // namespace openreg_gen
