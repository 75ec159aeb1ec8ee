// Parses the two kinds of files that declare PyTorch's operators into plain records. Pure. A malformed text throws
// Failure(Environment, "E0402") that names file and line.
#pragma once

#include "catalog/catalog.h"
#include "system/files.h"

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// A line of RegistrationDeclarations.h.
struct Declaration {
  Schema schema;
  std::string schema_text;                  // with "aten::"
  std::string returns;                      // C++
  std::vector<std::string> argument_types;  // C++, in the order of schema.arguments
  bool has_dispatch = false;
  bool has_default = false;
};

/// An entry of native_functions.yaml.
struct NativeFunction : YamlEntry {
  Schema schema;
  std::vector<std::string> autogen;  // names of the forms that PyTorch's codegen adds
  bool dispatch_written = false;     // even if empty, which says: no kernel at all
  bool ufunc = false, const_ref_mutable = false, manual_cpp_binding = false;
  bool generated = false;  // not written: one of the forms that codegen adds (see build.h)
};

std::vector<Declaration> read_registration_declarations(std::string_view text, const fs::path& path);
std::vector<NativeFunction> read_native_functions(std::string_view text, const fs::path& path);
/// Names of the tags that tags.yaml declares.
std::vector<std::string> read_tags(std::string_view text, const fs::path& path);

}  // namespace openreg_gen
