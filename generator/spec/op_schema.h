// The schema of a custom operator, as the spec writes it: "name(Tensor self, *, float eps=1e-6) -> Tensor".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct SchemaArgument {
  std::string type;  // "Tensor", "Tensor(a!)", "int[]?"
  std::string name;
  std::string default_value;  // empty: none
  bool kwarg_only = false;
};

struct OpSchema {
  std::string name;      // "custom_abs"
  std::string overload;  // empty: none
  std::vector<SchemaArgument> arguments;
  std::vector<std::string> returns;  // types

  /// "name_overload": a C++ and Python name, and the last part of its kernel's file.
  std::string id() const { return overload.empty() ? name : name + "_" + overload; }
};

struct OpSchemaError {
  std::string code;  // E0160 syntax, E0161 name, E0162 type, E0225 default, E0226 alias
  std::size_t offset = 0;
  std::string message;
  std::string hint;
};

/// The schema, or `error`. Never throws.
/// Returns may alias an argument as views do, or as in-place operators do; others are refused: E0226.
std::optional<OpSchema> parse_op_schema(std::string_view text, OpSchemaError& error);

}  // namespace openreg_gen
