// A C++ text as tokens, and the branches of its #if that count. Knows no grammar: see api/declarations.h.
#pragma once

#include "base/text.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen::api {

struct Token {
  enum Kind : unsigned char { Word, Number, Text, Sign, Directive };
  Kind kind = Sign;
  std::string_view text;  // a directive: the logical line, with its line breaks
  unsigned line = 0, column = 0;
  bool is(std::string_view other) const { return text == other && kind != Text && kind != Directive; }
};
using Tokens = std::vector<Token>;

/// Comments are left out. `::`, `->` and comparisons are one token; other signs are single letters. The tokens view
/// `text`.
Tokens tokens_of(BorrowedText text);

/// "#  define X(a) \ b": the word behind the #, and the rest of the line, unfolded and without comments.
struct DirectiveLine {
  std::string word, rest;
};
DirectiveLine read_directive(std::string_view text);

/// What a #define defines; no parameters: `is_function` tells "X" from "X()".
struct Macro {
  std::string name, body;
  std::vector<std::string> parameters;
  bool is_function = false;
};
std::optional<Macro> read_define(std::string_view rest);

/// The text of a macro by its name; none if it is not known.
using MacroText = std::function<std::optional<std::string>(std::string_view name)>;

/// What the condition of an #if or #elif is; none if that depends on macros that are not known.
std::optional<bool> evaluate(std::string_view condition, const MacroText& macros);

/// Tokens without the branches that certainly don't count, and without #if itself. Where branches are not known, all
/// count, or the first one alone if their brackets don't match.
Tokens without_dead_branches(const Tokens& tokens, const MacroText& macros);

}  // namespace openreg_gen::api
