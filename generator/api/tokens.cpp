#include "api/tokens.h"

#include "base/text.h"

#include <array>

namespace openreg_gen::api {
namespace {

constexpr std::array<std::string_view, 8> kPairs{"::", "->", "<=", ">=", "==", "!=", "&&", "##"};

struct Lexer {
  std::string_view text;
  std::size_t at = 0, line_begin = 0;
  unsigned line = 1;
  Tokens out{};

  char look(std::size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  void newline() { ++line, line_begin = at + 1; }
  void step() {
    if (look() == '\n') newline();
    ++at;
  }
  void until(std::string_view end) {
    while (at < text.size() && !text.substr(at).starts_with(end)) step();
    at = std::min(at + end.size(), text.size());
  }
  /// Behind the closing quote; a line break ends a broken one.
  void quoted(char quote) {
    for (++at; at < text.size() && look() != quote && look() != '\n'; ++at)
      if (look() == '\\' && look(1) != '\0') {
        if (look(1) == '\n') ++at, newline(), --at;
        ++at;
      }
    if (look() == quote) ++at;
  }
  void raw_text() {
    const std::size_t open = text.find('(', at);
    if (open == std::string_view::npos) return void(at = text.size());
    const std::string end = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
    until(end);
  }
  /// To the end of the logical line.
  void directive() {
    while (at < text.size() && look() != '\n') {
      if (look() == '/' && look(1) == '*')
        until("*/");
      else if (look() == '/' && look(1) == '/')
        while (at < text.size() && look() != '\n') at += look() == '\\' && look(1) == '\n' ? (newline_at(1), 2) : 1;
      else if (look() == '\\' && look(1) == '\n')
        newline_at(1), at += 2;
      else if (look() == '\\' && look(1) == '\r' && look(2) == '\n')
        newline_at(2), at += 3;
      else
        ++at;
    }
  }
  void newline_at(std::size_t ahead) { ++line, line_begin = at + ahead + 1; }

  void add(Token::Kind kind, std::size_t begin, unsigned begin_line, std::size_t begin_column) {
    out.push_back({kind, text.substr(begin, at - begin), begin_line, static_cast<unsigned>(begin_column)});
  }

  void run() {
    bool fresh = true;  // nothing but blanks is before this on the line
    while (at < text.size()) {
      const char c = look();
      if (c == '\n') fresh = true;
      if (is_space(c) || (c == '\\' && (look(1) == '\n' || look(1) == '\r'))) {
        step();
        continue;
      }
      if (c == '/' && look(1) == '/') {
        while (at < text.size() && look() != '\n') at += look() == '\\' && look(1) == '\n' ? (newline_at(1), 2) : 1;
        continue;
      }
      if (c == '/' && look(1) == '*') {
        until("*/");
        continue;
      }
      const std::size_t begin = at, column = at - line_begin + 1;
      const unsigned begin_line = line;
      if (c == '#' && fresh) {
        directive();
        add(Token::Directive, begin, begin_line, column);
        continue;
      }
      fresh = false;
      if (c == '"' || c == '\'') {
        quoted(c);
        add(Token::Text, begin, begin_line, column);
      } else if (is_digit(c)) {
        while (is_word(look()) || look() == '.' || (look() == '\'' && is_word(look(1)))) ++at;
        add(Token::Number, begin, begin_line, column);
      } else if (is_word(c)) {
        while (is_word(look())) ++at;
        const auto word = text.substr(begin, at - begin);
        if (look() == '"' && (word == "R" || word == "u8R" || word == "LR")) {
          raw_text();
          add(Token::Text, begin, begin_line, column);
        } else {
          add(Token::Word, begin, begin_line, column);
        }
      } else {
        at += contains(kPairs, text.substr(at, 2)) ? 2 : 1;
        add(Token::Sign, begin, begin_line, column);
      }
    }
  }
};

}  // namespace

Tokens tokens_of(BorrowedText text) {
  Lexer lexer{text};
  lexer.out.reserve(text.size() / 5);
  lexer.run();
  return std::move(lexer.out);
}

DirectiveLine read_directive(std::string_view text) {
  std::string line;
  for (std::size_t at = 1; at < text.size(); ++at) {
    const auto rest = text.substr(at);
    if (rest.starts_with("//")) break;
    if (rest.starts_with("/*")) {
      at = std::min(text.find("*/", at), text.size() - 1) + 1;
      line += ' ';
    } else if (text[at] == '\\' && (rest.substr(1).starts_with('\n') || rest.substr(1).starts_with("\r\n"))) {
      at += rest[1] == '\r' ? 2 : 1;
      line += ' ';
    } else {
      line += text[at];
    }
  }
  const auto all = trimmed(line);
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(all, is_word) - all.begin());
  return {std::string(all.substr(0, end)), std::string(trimmed(all.substr(end)))};
}

std::optional<Macro> read_define(std::string_view rest) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_word) - rest.begin());
  Macro macro{std::string(rest.substr(0, end)), {}, {}};
  if (!is_identifier(macro.name)) return {};
  rest.remove_prefix(end);
  if (rest.starts_with('(')) {
    macro.is_function = true;
    const auto close = std::min(rest.find(')'), rest.size());
    auto list = rest.substr(1, close - std::min<std::size_t>(close, 1));
    while (!trimmed(list).empty()) {
      const auto comma = std::min(list.find(','), list.size());
      macro.parameters.emplace_back(trimmed(list.substr(0, comma)));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    rest.remove_prefix(std::min(close + 1, rest.size()));
  }
  macro.body = trimmed(rest);
  return macro;
}

}  // namespace openreg_gen::api
