// The differences between two schemas of one operator: arguments and returns, with their places in the texts. Pure.
#pragma once

#include "base/text.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// An argument (or "-> returns") that is in one schema only, or in both with another type, default or name.
struct ArgumentChange {
  std::string name;           // the argument's; "->" for what is returned
  std::string before, after;  // "int diagonal=0"; empty where there is none
};

struct Span {
  std::size_t begin = 0, size = 0;  // bytes
};

struct SchemaDiff {
  std::vector<ArgumentChange> changes;          // in the order of the schemas
  std::vector<Span> before_marks, after_marks;  // what differs, in each text
};

/// `before` and `after` are schemas as Op::schema has them, with or without "aten::".
SchemaDiff diff_schemas(std::string_view before, std::string_view after);

/// A line with '^' below each marked byte; empty without marks. Schemas are ASCII.
std::string mark_line(const std::vector<Span>& marks);

/// "aten::add.Tensor(...)" without the namespace, as native_functions.yaml has it.
std::string_view without_namespace(BorrowedText schema);

}  // namespace openreg_gen
