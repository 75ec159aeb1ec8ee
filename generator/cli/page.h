// A page of entries for a terminal: names at the left, wrapped text at the right.
#pragma once

#include "cli/terminal_text.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace openreg_gen {

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
  std::size_t width() const { return width_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::size_t width_;
};

}  // namespace openreg_gen
