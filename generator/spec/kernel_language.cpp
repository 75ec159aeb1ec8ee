#include "spec/kernel_language.h"

namespace openreg_gen {
namespace {

std::string_view first_call(std::string_view functions, const ExprNode& node) {
  if (node.kind == ExprNode::Kind::Call && has_word(functions, node.text)) return node.text;
  for (const ExprNode& part : node.parts)
    if (const auto found = first_call(functions, part); !found.empty()) return found;
  return {};
}

}  // namespace

std::string_view KernelLanguage::first_of(std::string_view functions, const Expr& expr) {
  return first_call(functions, expr.root);
}

std::span<const KernelLanguage> kernel_languages() {
  static const KernelLanguage all[] = {opencl_c(), glsl()};
  return all;
}

const KernelLanguage* find_kernel_language(std::string_view word) {
  return find_by(kernel_languages(), word, &KernelLanguage::word);
}

}  // namespace openreg_gen
