// Escapes text of the spec for its destination. Input is UTF-8 of any content; non-ASCII characters stay as they are.
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
/// One line that can't end a comment or a docstring in C, C++, Python, CMake, TOML and Markdown.
/// Characters that would end one are replaced by similar, harmless ones.
std::string comment_text(std::string_view text);

}  // namespace openreg_gen
