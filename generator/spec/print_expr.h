// Expressions of the spec as code of a language.
#pragma once

#include "spec/expr.h"

#include <string>

namespace openreg_gen {

/// C's syntax; a language overrides where it differs. Languages of devices: spec/kernel_language.h.
class ExprPrinter {
 public:
  virtual ~ExprPrinter() = default;
  std::string print(const ExprNode& node) const;

 protected:
  virtual std::string number(const ExprNode& node) const { return node.text; }
  virtual std::string name(const ExprNode& node) const { return node.text; }
  virtual std::string group(const ExprNode& node) const;
  virtual std::string unary(const ExprNode& node) const;
  virtual std::string binary(const ExprNode& node) const;
  virtual std::string conditional(const ExprNode& node) const;
  virtual std::string call(const ExprNode& node) const;
  virtual std::string cast(const ExprNode& node) const = 0;
  /// The parts of a node, printed, with commas between them.
  std::string arguments(const ExprNode& node) const;
};

std::string cpp_text(const Expr& expr);
/// Over tensors or numbers. Where Python differs from C++, it calls a function of the module `cpp`
/// (package/testing/cpp.py.j2).
std::string python_text(const Expr& expr);

}  // namespace openreg_gen
