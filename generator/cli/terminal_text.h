// Plain text laid out for a terminal.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace openreg_gen {

/// Columns of the terminal at standard output; 0 if it is none, which means: as wide as the text.
std::size_t terminal_width();

/// Columns of a page to read: the terminal's, at most 100; 100 if standard output is none.
std::size_t page_width();

/// Rows in columns two blanks apart, the last column cut off with "..." at `width` (0: never). A column is as wide as
/// its widest cell, but no wider than `widest`; a longer cell moves the rest of its row. Ends in a newline.
std::string layout_table(const std::vector<std::vector<std::string>>& rows, std::size_t width, std::size_t widest = 44);

/// Words, broken at blanks to fit `width` (0: never broken) with `indent` blanks before all lines but the first.
std::string wrap_words(const std::string& text, std::size_t indent, std::size_t width);

/// "1 file", "2 files".
std::string count_of(std::size_t count, const std::string& noun);

/// The text in an SGR colour ("31", "1;32"), if `colour`.
std::string painted(const std::string& text, const char* sgr, bool colour);

/// A page of entries: names at the left, wrapped text at the right.
class Page {
 public:
  static constexpr std::size_t kIndent = 15;
  explicit Page(std::size_t width) : width_(width) {}
  /// Nothing, if `text` is empty.
  void entry(std::string_view name, const std::string& text) {
    if (!text.empty()) text_ += fmt::format("  {:<{}}{}\n", name, kIndent - 2, wrap_words(text, kIndent, width_));
  }
  void entries(std::string_view name, const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) entry(i == 0 ? name : "", lines[i]);
  }
  void raw(const std::string& text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::size_t width_;
};

}  // namespace openreg_gen
