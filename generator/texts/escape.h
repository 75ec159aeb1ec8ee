// Text of the spec made safe for where it goes. Input is UTF-8 of any content; non-ASCII characters stay as they are.
// Literals come with their quotes. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace openreg_gen {

/// A C++ string literal, on one line.
std::string cpp_literal(std::string_view text);
/// A Python string literal, with the quotes that `ruff format` prefers.
std::string python_literal(std::string_view text);
/// A TOML basic string.
std::string toml_literal(std::string_view text);
/// A quoted CMake argument: no variable is expanded in it.
std::string cmake_literal(std::string_view text);
/// Text for the middle of a Markdown document: shows as written, also at the start of a line and in a table.
std::string markdown_text(std::string_view text);
/// One line that ends no comment and no docstring, in C, C++, Python, CMake, TOML and Markdown alike.
/// What would end one is replaced by its nearest harmless look-alike.
std::string comment_text(std::string_view text);

}  // namespace openreg_gen
