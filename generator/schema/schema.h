// An operator's schema as PyTorch writes it: "add.out(Tensor self, ..., *, Tensor(a!) out) -> Tensor(a!)".
//
// PyTorch's native functions and the spec's custom operators are written so. Values only; all functions are pure and
// may run on any thread.
#pragma once

#include "base/text.h"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// inplace: writes `self`.  out: writes keyword-only arguments.  mutable: writes some other argument.
enum class SchemaKind { Functional, Inplace, Out, Mutable };
inline std::string_view to_string(SchemaKind kind) { return word_of("functional inplace out mutable", kind); }

struct ArgumentSchema {
  std::string type;        // without annotation: "Tensor", "Tensor[]", "int[2]?"
  std::string annotation;  // "a!", "a", "a -> *", or empty
  std::string name;
  std::string default_value;  // as written; empty if there is none
  bool kwarg_only = false;
  std::size_t offset = 0, name_offset = 0, default_offset = 0;  // where they begin, in the text that was parsed

  bool is_write() const { return annotation.find('!') != std::string::npos; }
  bool is_out() const { return kwarg_only && is_write(); }
  std::string annotated_type() const;  // "Tensor(a!)[]"
};

struct ReturnSchema {
  std::string type;
  std::string annotation;
  std::string name;  // may be empty
  std::size_t offset = 0;

  bool is_write() const { return annotation.find('!') != std::string::npos; }
  std::string annotated_type() const;
};

struct Schema {
  std::string base;      // "add_"
  std::string overload;  // "Tensor", or empty
  std::vector<ArgumentSchema> arguments;
  std::vector<ReturnSchema> returns;
  std::size_t offset = 0, returns_offset = 0;

  /// "name_overload": a C++ and Python name.
  std::string id() const { return overload.empty() ? base : base + "_" + overload; }
  std::string name() const { return overload.empty() ? base : base + "." + overload; }
  bool is_inplace() const;  // by name: "add_", "__iadd__"
  SchemaKind kind() const;
  bool is_tensor_options(const ArgumentSchema& argument) const;  // one of dtype, layout, device, pin_memory, all given
  bool has_symint_argument() const;
  std::string root() const;  // base without the mark of in-place or "_functional": "add", "__and__"
  /// Equal for the functional, in-place, out and mutable forms of one operator and for nothing else.
  std::string group_key() const;
  std::string text() const;  // the schema again, without a namespace
};

/// An error in a schema, and its place.
struct SchemaError : std::invalid_argument {
  SchemaError(std::string_view schema, std::size_t offset, const std::string& message, std::string hint = {});
  std::size_t offset;
  std::string message, hint;
};

/// Reads a schema with or without a namespace ("aten::"); the namespace is dropped. Throws SchemaError.
Schema parse_schema(std::string_view text);

/// Splits at `separator` where no bracket (round, square, angle) and no quote is open; trims the pieces.
std::vector<std::string_view> split_top_level(BorrowedText text, char separator);

bool is_tensor_like(std::string_view type);  // Tensor, Tensor?, Tensor[], ...

}  // namespace openreg_gen
