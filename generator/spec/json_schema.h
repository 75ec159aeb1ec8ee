// What is printed from the table of keys: the JSON Schema for editors, and the reference page.
#pragma once

#include <string>

namespace openreg_gen {

/// JSON Schema (draft 2020-12) of the spec, indented, with a newline at its end: specs/schema.json.
std::string spec_json_schema();
/// docs/spec.md.
std::string spec_markdown();

}  // namespace openreg_gen
