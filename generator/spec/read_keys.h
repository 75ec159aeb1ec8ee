// From keys of a checked map to the values of spec.h: what is not there leaves the default.
#pragma once

#include "spec/document.h"
#include "spec/expr.h"
#include "spec/keys.h"
#include "spec/rules.h"
#include "spec/spec.h"

#include <fmt/format.h>

#include <algorithm>

namespace openreg_gen {

inline const Node* find(const Node* map, std::string_view key) { return map == nullptr ? nullptr : map->find(key); }

template <typename T, typename Convert>
void read(Located<T>& into, const Node* map, std::string_view key, Convert convert) {
  if (const Node* node = find(map, key)) into = {convert(node->text), node->at};
}
inline void read(Located<std::string>& into, const Node* map, std::string_view key) {
  read(into, map, key, [](const std::string& text) { return text; });
}
inline void read(Located<int>& into, const Node* map, std::string_view key) {
  read(into, map, key, [](const std::string& text) { return std::stoi(text); });
}
inline void read(Located<bool>& into, const Node* map, std::string_view key) {
  read(into, map, key, [](const std::string& text) { return text[0] == 't' || text[0] == 'T'; });
}
inline void read(Located<double>& into, const Node* map, std::string_view key) {
  read(into, map, key, [](const std::string& text) { return parse_number(text).value_or(0); });
}
inline void read(Located<std::uint64_t>& into, const Node* map, std::string_view key) {
  read(into, map, key, [](const std::string& text) { return parse_size(text).value_or(0); });
}

/// Words become the enumerator with the same place in the table's list of words.
template <typename T>
void read_word(Located<T>& into, const Node* map, std::string_view key, std::string_view path) {
  const auto values = find_key(path)->values;
  read(into, map, key,
       [&](const std::string& text) { return static_cast<T>(std::ranges::find(values, text) - values.begin()); });
}

inline std::vector<Located<std::string>> read_list(const Node* map, std::string_view key, Location* at = nullptr) {
  std::vector<Located<std::string>> result;
  const Node* list = find(map, key);
  if (list == nullptr) return result;
  if (at != nullptr) *at = list->at;
  for (const Node& item : list->items) result.push_back({item.text, item.at});
  return result;
}

/// An expression; nothing if it is not there or wrong, which is reported at the column of the fault. `text`: the
/// spec's.
inline std::optional<Expr> read_expression(const Node* map, std::string_view key, std::string_view text,
                                           Diagnostics& diagnostics) {
  const Node* node = find(map, key);
  if (node == nullptr) return std::nullopt;
  Expr expr = parse_expr(node->text);
  if (!expr.error) return expr;
  const auto& e = *expr.error;
  diagnostics.error(e.code, place_inside(*node, e.offset, text), fmt::format("'{}': {}", key, e.message), e.hint);
  return std::nullopt;
}

}  // namespace openreg_gen
