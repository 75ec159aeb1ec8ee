// The steps of the parser: a document is checked, then its values and lists are read into those of spec.h.
#pragma once

#include "base/text.h"
#include "spec/document.h"
#include "spec/expr.h"
#include "spec/keys.h"
#include "spec/rules.h"
#include "spec/spec.h"

#include <fmt/format.h>

#include <type_traits>

namespace openreg_gen {

/// Checks a document against the table of keys: unknown and repeated keys, types, words, ranges, rules. Reports
/// everything that does not fit, and returns the tree in one form: shorthands written out as maps, `ops` as a map,
/// nulls and values that do not fit left out. The result can be read without further checks.
Node check_shape(const Node& root, const Vocabulary& vocabulary, Diagnostics& diagnostics);

// The lists are read from a checked node, which may be null, and report what contradicts itself.

/// `text`: the spec's, for places inside of values.
std::vector<CustomOpSpec> read_custom_ops(const Node* list, std::string_view text, Diagnostics& diagnostics);
void read_skips(OpTests& tests, const Node* map, Diagnostics& diagnostics);
void read_tests(TestsSpec& out, const Node* map, Diagnostics& diagnostics);

inline const Node* find(const Node* map, std::string_view key) { return map == nullptr ? nullptr : map->find(key); }

inline void read_value(std::string& into, const Node& value, const Key&) { into = value.text; }
inline void read_value(int& into, const Node& value, const Key&) { into = std::stoi(value.text); }
inline void read_value(bool& into, const Node& value, const Key&) {
  into = value.text.starts_with('t') || value.text.starts_with('T');
}
inline void read_value(double& into, const Node& value, const Key&) { into = parse_number(value.text).value_or(0); }
inline void read_value(std::uint64_t& into, const Node& value, const Key&) {
  into = parse_size(value.text).value_or(0);
}
inline void read_value(const AllocatorKind*& into, const Node& value, const Key&) {
  into = find_allocator_kind(value.text);
}
inline void read_value(const DeviceKind*& into, const Node& value, const Key&) { into = find_device_kind(value.text); }
inline void read_value(const KernelLanguage*& into, const Node& value, const Key&) {
  into = find_kernel_language(value.text);
}
/// Words become the enumerator with the same place in the key's list of words.
template <typename T>
  requires std::is_enum_v<T>
void read_value(T& into, const Node& value, const Key& key) {
  into = static_cast<T>(std::ranges::find(key.values, value.text) - key.values.begin());
}
inline void read_value(std::vector<SpecValue<std::string>>& into, const Node& value, const Key&) {
  into.clear();
  for (const Node& item : value.items) into.push_back({item.text, item.at});
}
inline void read_value(Expr& into, const Node& value, const Key&) { into = parse_expr(value.text); }
/// Separated by ';'; all but the first may be empty.
inline void read_value(std::vector<std::optional<Expr>>& into, const Node& value, const Key&) {
  into.clear();
  const std::string_view text = value.text;
  for (std::size_t start = 0; start <= text.size();) {
    const auto end = std::min(text.find(';', start), text.size());
    const std::string_view piece = text.substr(start, end - start);
    into.emplace_back();
    if (into.size() == 1 || !trimmed(piece).empty()) into.back() = parse_expr(piece, start);
    start = end + 1;
  }
}
template <typename T>
void read_value(SpecValue<T>& into, const Node& value, const Key& key) {
  read_value(into.value, value, key);
  into.at = value.at;
}

/// The default of a key as a node without a place; for the backend `name`.
Node default_node(const Key& key, std::string_view name);

/// Reads the keys below `path` into their members; missing ones get their defaults. `map` may be null.
template <typename Owner>
void read_keys(Owner& owner, std::string_view path, const Node* map, std::string_view name = {}) {
  for (const Key& key : all_keys()) {
    const auto* into = std::get_if<Into<Owner>>(&key.into);
    if (into == nullptr || !key.path.starts_with(path)) continue;
    const Node* node = map;
    for (std::size_t from = path.empty() ? 0 : path.size() + 1, dot = 0; dot != key.path.npos; from = dot + 1) {
      dot = key.path.find('.', from);
      node = find(node, key.path.substr(from, dot - from));
    }
    if (node != nullptr)
      (*into)(owner, *node, key);
    else if (!key.fallback.empty())
      (*into)(owner, default_node(key, name), key);
  }
}

/// Reports an error in an expression at its column. `text`: the spec's.
inline void report_expression(const Expr& expr, std::string_view key, const Node& node, std::string_view text,
                              Diagnostics& diagnostics) {
  if (const auto& e = expr.error)
    diagnostics.error(e->code, place_inside(node, e->offset, text), fmt::format("'{}': {}", key, e->message), e->hint);
}

}  // namespace openreg_gen
