// Expressions of the spec, in C++'s syntax: parsed once into a tree, which is checked and printed.
//
// Allowed are names, numbers, calls, casts, unary, binary and conditional operators; no assignment, no increment, no
// strings, comments, braces or brackets. Emitted code gets one expression and nothing else.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct ExprNode {
  enum class Kind { Number, Name, Group, Unary, Binary, Conditional, Call, Cast };
  Kind kind = Kind::Number;
  std::string text{};             // a number, true or false; a name, an operator, a function; of a cast the type
  std::size_t offset = 0;         // in the spec's text; of a binary operator its own
  std::vector<ExprNode> parts{};  // operands or arguments; of a conditional: condition, then, else
};

struct ExprError {
  std::string code;  // E0155 character, E0156 grammar, E0157 unknown function, E0228 dtype
  std::size_t offset = 0;
  std::string message;
  std::string hint;
};

struct Expr {
  std::string text;  // as written
  ExprNode root;
  std::optional<ExprError> error;  // if there is one, `root` has no meaning
};

/// Never throws; nesting deeper than 64 is an error. `begin`: where it stands in a longer text, for the offsets.
Expr parse_expr(std::string_view text, std::size_t begin = 0);

/// Calls `visit` with each use of a variable, in order.
void each_name(const ExprNode& node, const std::function<void(const ExprNode&)>& visit);

/// Whether a variable is in it; true if it has an error.
bool uses(const Expr& expr, std::string_view name);

/// The first operator or function that one of `dtypes` lacks: `%` or bitwise operators for floating point, order for
/// complex numbers. `is_element`: whether a variable has the dtype; other variables are numbers with their own type.
/// An empty list means all real dtypes, as in the spec.
std::optional<ExprError> dtype_error(const Expr& expr, const std::vector<std::string>& dtypes,
                                     const std::function<bool(const std::string&)>& is_element);

}  // namespace openreg_gen
