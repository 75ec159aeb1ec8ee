// Plain text laid out for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace openreg_gen {

/// Columns of the terminal at standard output; 0 if it is none, which means: as wide as the text.
std::size_t terminal_width();

/// Rows in columns two blanks apart, the last column cut off with "..." at `width` (0: never). A column is as wide as
/// its widest cell, but no wider than `widest`; a longer cell moves the rest of its row. Ends in a newline.
std::string layout_table(const std::vector<std::vector<std::string>>& rows, std::size_t width, std::size_t widest = 44);

/// Words, broken at blanks to fit `width` (0: never broken) with `indent` blanks before all lines but the first.
std::string wrap_words(const std::string& text, std::size_t indent, std::size_t width);

/// "1 file", "2 files".
std::string count_of(std::size_t count, const std::string& noun);

/// The text in an SGR colour ("31", "1;32"), if `colour`.
std::string painted(const std::string& text, const char* sgr, bool colour);

}  // namespace openreg_gen
