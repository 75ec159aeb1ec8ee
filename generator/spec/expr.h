// C++ expressions of the spec: parsed, so that what reaches emitted code is one expression and nothing else.
//
// Allowed are names, numbers, calls, casts, unary, binary and conditional operators; no assignment, no increment, no
// strings, comments, braces or brackets.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct ExprName {
  std::string name;  // an argument, as written
  std::size_t offset = 0;
};

/// An operator or function that not all dtypes have.
struct ExprUse {
  std::string token;  // "%", "<", "std::fmax"
  std::size_t offset = 0;
  std::vector<std::string> names;  // the variables whose values reach it in their own type
};

struct ExprError {
  std::string code;  // E0155 character, E0156 grammar, E0157 unknown function, E0228 dtype
  std::size_t offset = 0;
  std::string message;
  std::string hint;
};

struct Expr {
  std::vector<ExprName> names;  // every use of a variable, in order
  std::vector<ExprUse> uses;
  std::optional<ExprError> error;
};

/// Never throws; nesting deeper than 64 is an error.
Expr parse_expr(std::string_view text);

/// The first use that one of `dtypes` does not have: `%` or bits of floating point, the order of complex numbers.
/// `is_element`: whether a variable has the dtype; other variables are numbers of a type of their own. No dtypes stand
/// for all real ones, as in the spec.
std::optional<ExprError> dtype_error(const Expr& expr, const std::vector<std::string>& dtypes,
                                     const std::function<bool(const std::string&)>& is_element);

}  // namespace openreg_gen
