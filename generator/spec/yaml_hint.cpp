#include "spec/yaml_hint.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace openreg_gen {
namespace {

constexpr std::string_view kQuoteIt = "put a text that has ': ', brackets or commas in it in quotes: `key: \"...\"`";

std::size_t indentation(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool says_nothing(std::string_view line) { return trimmed(line).empty() || trimmed(line).starts_with('#'); }

/// "2 spaces", of which a line has at most so many.
std::string spaces(std::size_t count) {
  return count == 0 ? "no space" : fmt::format("{} space{}", count, count == 1 ? "" : "s");
}

/// The lines above that a line with less indentation than the last of them could continue: "2 spaces or no space".
std::string levels_above(const std::vector<std::string_view>& lines, std::size_t line) {
  std::string levels;
  std::size_t least = std::string_view::npos;
  for (std::size_t i = line; i-- > 0 && least > 0;) {
    if (says_nothing(lines[i]) || indentation(lines[i]) >= least) continue;
    least = indentation(lines[i]);
    levels += (levels.empty() ? "" : " or ") + spaces(least);
  }
  return levels;
}

/// A value where none may be: more than one on a line, or below a line that has one already.
std::string of_map_value(const std::vector<std::string_view>& lines, std::size_t line, std::size_t column) {
  const std::string_view here = lines[line].substr(0, column);
  if (includes(here, ": ")) return std::string(kQuoteIt);
  std::size_t before = line;
  while (before > 0 && says_nothing(lines[before - 1])) --before;
  if (before == 0) return {};
  const std::string_view above = trimmed(lines[before - 1]);
  const std::size_t colon = above.find(':');
  if (colon == std::string_view::npos) return fmt::format("a key ends in a colon: `{}:`", above.substr(0, 40));
  if (colon + 1 < above.size() && above[colon + 1] != ' ')
    return fmt::format("a space comes after the colon: `{}: {}`", above.substr(0, colon), above.substr(colon + 1, 40));
  const std::size_t wanted = indentation(lines[before - 1]), has = indentation(lines[line]);
  return has == wanted ? "" : fmt::format("indent it like the line above, by {}", spaces(wanted));
}

}  // namespace

std::string yaml_hint(std::string_view text, std::string_view said, const Location& at,
                      const std::optional<Location>& open) {
  const std::vector<std::string_view> lines = split_lines(text);
  const auto line = static_cast<std::size_t>(std::max(at.line - 1, 0));
  for (std::size_t i = std::max<std::size_t>(line, 1) - 1; i <= line && i < lines.size(); ++i)
    if (const auto first = lines[i].find_first_not_of(" \t"); includes(lines[i].substr(0, first), "\t"))
      return fmt::format("line {} is indented by a tab: YAML takes spaces alone", i + 1);
  if (includes(said, "flow") && includes(said, "not found") && open) {
    const bool map = includes(said, "map");
    const std::string close =
        fmt::format("line {} opens a '{}' that no '{}' closes", open->line, map ? '{' : '[', map ? '}' : ']');
    return line >= lines.size()    ? close
           : open->line == at.line ? std::string(kQuoteIt)
                                   : fmt::format("{}; or {}", close, kQuoteIt);
  }
  if (includes(said, "illegal flow end")) return "it closes a bracket that no '{' or '[' opens";
  if (line >= lines.size()) return {};
  const auto column = static_cast<std::size_t>(std::max(at.column - 1, 0));
  const std::string_view here = lines[line];
  if (includes(said, "illegal map value")) return of_map_value(lines, line, column);
  if (includes(said, "end of map not found") || includes(said, "end of sequence not found"))
    return fmt::format("it is indented by {}; lines above it that it could continue, by {}", spaces(indentation(here)),
                       levels_above(lines, line));
  if (includes(said, "unknown token") || includes(said, "anchor is not defined")) {
    const std::string_view word = here.substr(std::min(column, here.size()));
    const std::size_t end = std::min({word.find(": "), word.find_first_of(",]} "), word.size()});
    return fmt::format("put it in quotes: \"{}\"", trimmed(word.substr(0, end)));
  }
  return {};
}

bool is_unclosed_quote(std::string_view text, std::size_t offset) {
  if (offset >= text.size() || (text[offset] != '"' && text[offset] != '\'')) return false;
  const char quote = text[offset];
  for (std::size_t i = offset + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\')
      ++i;
    else if (text[i] == quote && quote == '\'' && i + 1 < text.size() && text[i + 1] == quote)
      ++i;
    else if (text[i] == quote)
      return false;
  }
  return true;
}

}  // namespace openreg_gen
