// C++ expressions of the spec: parsed, so that what reaches emitted code is one expression and nothing else.
//
// Allowed are names, numbers, calls, casts, unary, binary and conditional operators; no assignment, no increment, no
// strings, comments, braces or brackets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct ExprName {
  std::string name;  // an argument, as written
  std::size_t offset = 0;
};

struct ExprError {
  std::string code;  // E0155 character, E0156 grammar, E0157 unknown function
  std::size_t offset = 0;
  std::string message;
  std::string hint;
};

struct Expr {
  std::vector<ExprName> names;  // every use of a variable, in order
  std::optional<ExprError> error;
};

/// Never throws; nesting deeper than 64 is an error.
Expr parse_expr(std::string_view text);

}  // namespace openreg_gen
