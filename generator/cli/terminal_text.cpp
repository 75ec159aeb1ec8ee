#include "cli/terminal_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace openreg_gen {

std::size_t terminal_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::size_t page_width() {
  constexpr std::size_t kMost = 100;
  const std::size_t width = terminal_width();
  return width == 0 ? kMost : std::min(width, kMost);
}

std::string layout_table(const std::vector<std::vector<std::string>>& rows, std::size_t width, std::size_t widest) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::min(widest, std::max(widths[i], row[i].size()));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 == row.size()) break;
      line.append(row[i].size() < widths[i] ? widths[i] - row[i].size() : 0, ' ');
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (width > 3 && line.size() > width) {
      line.resize(width - 3);
      line += "...";
    }
    text += line + "\n";
  }
  return text;
}

std::string wrap_words(const std::string& text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(' ', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    if (!result.empty() && width != 0 && column + 1 + word.size() > width) {
      result += '\n';
      result.append(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += " ";
      ++column;
    }
    result += word;
    column += word.size();
    begin = end + 1;
  }
  return result;
}

std::string count_of(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string painted(const std::string& text, const char* sgr, bool colour) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", sgr, text) : text;
}

}  // namespace openreg_gen
