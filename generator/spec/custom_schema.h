// The rules for the schema of a custom operator beyond the syntax: "name(Tensor self, *, float eps=1e-6) ->
// Tensor".
#pragma once

#include "schema/schema.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace openreg_gen {

struct CustomSchemaError {
  std::string code;  // E0160 syntax, E0161 name, E0162 type, E0225 default, E0226 alias
  std::size_t offset = 0;
  std::string message;
  std::string hint;
};

/// The schema, or `error`. Never throws.
/// Returns may alias an argument as views do, or as in-place operators do; others are refused: E0226.
std::optional<Schema> parse_custom_schema(std::string_view text, CustomSchemaError& error);

}  // namespace openreg_gen
