// Helpers for ASCII letters and words (in any locale), characters, lines and lists of them. Pure functions. Includes
// the standard headers that go with them.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace openreg_gen {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return is_lower(c) || is_upper(c); }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/// A character of an identifier.
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
constexpr bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) && std::ranges::all_of(text, is_word);
}
constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

/// A continuation byte of UTF-8.
constexpr bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// std::ranges::contains of C++23.
template <typename List, typename Value>
bool contains(const List& list, const Value& value) {
  return std::ranges::find(list, value) != std::ranges::end(list);
}

/// The same, of a text in another one.
constexpr bool includes(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A text of which a function returns views. It can't be a temporary std::string, which would be freed before anyone
/// reads the views. A template, since an overload for std::string&& would make calls with a literal ambiguous.
struct BorrowedText : std::string_view {
  template <typename Text>
    requires std::convertible_to<Text, std::string_view> &&
             (std::ranges::borrowed_range<Text> || std::is_pointer_v<std::remove_cvref_t<Text>>)
  constexpr BorrowedText(Text&& text) : std::string_view(std::forward<Text>(text)) {}
};

/// The element whose `key` is `value`; null if there is none. Not of a temporary list.
template <std::ranges::borrowed_range List, typename Value, typename Key>
const auto* find_by(List&& list, const Value& value, Key key) {
  const auto found = std::ranges::find(list, value, key);
  return found == std::ranges::end(list) ? nullptr : &*found;
}

/// The same in a list that is sorted by its keys.
template <std::ranges::borrowed_range List, typename Value, typename Key>
const auto* find_sorted(List&& list, const Value& value, Key key) {
  const auto found = std::ranges::lower_bound(list, value, {}, key);
  return found == std::ranges::end(list) || std::invoke(key, *found) != value ? nullptr : &*found;
}

/// `make` of each element.
template <typename List, typename Make>
auto mapped(const List& list, Make make) {
  std::vector<std::remove_cvref_t<std::invoke_result_t<Make, decltype(*std::begin(list))>>> out;
  for (const auto& each : list) out.push_back(std::invoke(make, each));
  return out;
}

inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

inline std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_upper(c);
  return out;
}

/// "foo_bar" -> "FooBar": C++ classes.
inline std::string camel_case(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (name[i] != '_') out += i == 0 || name[i - 1] == '_' ? to_upper(name[i]) : name[i];
  return out;
}

/// "foo_bar" -> "fooBar": the prefix of a C API.
inline std::string lower_camel_case(std::string_view name) {
  std::string out = camel_case(name);
  if (!out.empty()) out[0] = to_lower(out[0]);
  return out;
}

inline std::string_view trimmed(BorrowedText text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Whether `holds` is true of one of the words, which blanks separate; calls it with each until it is.
template <typename Predicate>
bool any_word(std::string_view text, Predicate holds) {
  for (std::size_t begin = 0; (begin = text.find_first_not_of(' ', begin)) < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (holds(text.substr(begin, end - begin))) return true;
    begin = end;
  }
  return false;
}

inline std::vector<std::string_view> words_of(BorrowedText text) {
  std::vector<std::string_view> words;
  any_word(text, [&](std::string_view word) { return words.push_back(word), false; });
  return words;
}

inline bool has_word(std::string_view text, std::string_view word) {
  return any_word(text, [&](std::string_view each) { return each == word; });
}

/// The word of a list at the enumerator's position.
template <typename Enum>
std::string_view word_of(BorrowedText words, Enum place) {
  auto left = static_cast<std::size_t>(place);
  std::string_view found;
  any_word(words, [&](std::string_view word) { return found = word, left-- == 0; });
  return found;
}

/// Each line keeps its line end; the last one may have none.
inline std::vector<std::string_view> lines_with_ends(BorrowedText text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

/// Lines without their ends, \n or \r\n.
inline std::vector<std::string_view> split_lines(BorrowedText text) {
  auto lines = lines_with_ends(text);
  for (std::string_view& line : lines) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
  }
  return lines;
}

/// Offsets at which lines begin; lines end in \n, \r\n or \r.
inline std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool crlf = text.substr(i, 2) == "\r\n";
    if (text[i] == '\n' || (text[i] == '\r' && !crlf)) starts.push_back(i + 1);
  }
  return starts;
}

/// Where a column (in characters, from 1) of the line that starts at `line` is.
inline std::size_t column_offset(std::string_view text, std::size_t line, int column) {
  std::size_t at = line;
  for (int i = 1; i < column && at < text.size(); ++i)
    for (++at; at < text.size() && continues(text[at]);) ++at;
  return at;
}

inline std::size_t count_characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues));
}

/// Without the mark of UTF-8 that some editors put before a text.
inline std::string_view without_byte_order_mark(BorrowedText text) {
  return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
}

/// One pass: inserted copies of `to` are not searched.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Reads a line of code token by token; blanks may be between tokens.
struct Scanner {
  void skip() { at_ = std::min(text_.find_first_not_of(' ', at_), text_.size()); }
  bool accept(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    skip();
    return true;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace openreg_gen
