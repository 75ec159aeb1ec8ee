#include "texts/escape.h"

#include "base/text.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

/// `control` formats a control character; `special` are those that get a backslash.
std::string quoted(std::string_view text, char quote, std::string_view special, const char* control) {
  std::string out(1, quote);
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_control(c)) {
      out += fmt::format(fmt::runtime(control), static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      if (c == quote || contains(special, c)) out += '\\';
      out += c;
    }
  }
  return out + quote;
}

}  // namespace

// Octal escapes take three digits at most, so that a digit after one is never swallowed, as with \x.
std::string cpp_literal(std::string_view text) { return quoted(text, '"', "\\", "\\{:03o}"); }

std::string python_literal(std::string_view text) {
  const auto doubles = std::count(text.begin(), text.end(), '"');
  const auto singles = std::count(text.begin(), text.end(), '\'');
  return quoted(text, doubles > singles ? '\'' : '"', "\\", "\\x{:02x}");
}

std::string toml_literal(std::string_view text) { return quoted(text, '"', "\\", "\\u{:04X}"); }

std::string cmake_literal(std::string_view text) {
  std::string printable(text);
  for (char& c : printable) {
    if (is_control(c) && c != '\n' && c != '\t') c = ' ';  // CMake has no escape for them
  }
  return quoted(printable, '"', "\\$", "{}");
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kInline = "\\`*_[]|~";
  constexpr std::string_view kLineStart = "#+-=";
  std::string out;
  bool digits = true;  // only digits so far: "1." would start a list
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    if (is_control(c)) {
      out += ' ';
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      const bool list = digits && i > 0 && (c == '.' || c == ')');
      const bool start = i == 0 && contains(kLineStart, c);
      if (list || start || contains(kInline, c)) out += '\\';
      out += c;
    }
    digits = digits && digit;
  }
  return out;
}

std::string comment_text(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (is_control(c)) c = ' ';
    if (c == '\\') c = '/';  // at a line's end it would join the next line; in a docstring it would start an escape
  }
  replace_all(out, "*/", "* /");
  replace_all(out, "/*", "/ *");
  replace_all(out, "--", "- -");
  replace_all(out, "\"\"\"", "'''");
  while (!out.empty() &&
         (out.back() == '"' || out.back() == ' ')) {  // text that ends in a quote would close a docstring
    if (out.back() == '"') {
      out.back() = '\'';
      break;
    }
    out.pop_back();
  }
  return out;
}

}  // namespace openreg_gen
