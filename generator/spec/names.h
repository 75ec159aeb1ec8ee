// Spellings of a backend's name, beside upper_case(). Pure functions on ASCII; a name matches [a-z][a-z_]* (spec/ has
// checked it).
#pragma once

#include <string>
#include <string_view>

namespace openreg_gen {

/// "foo_bar" -> "FooBar": C++ classes.
std::string camel_case(std::string_view name);
/// "foo_bar" -> "fooBar": the prefix of a C API.
std::string lower_camel_case(std::string_view name);

}  // namespace openreg_gen
