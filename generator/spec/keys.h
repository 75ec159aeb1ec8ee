// The one table of the spec's keys. The parser's checks, the JSON Schema and docs/reference/spec.md derive from it.
#pragma once

#include "base/text.h"
#include "spec/document.h"
#include "spec/spec.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace openreg_gen {

enum class KeyType {
  Map,      // has rows of its own, by path
  List,     // its items are the row "<path>[]"
  Table,    // free keys; their values are the row "<path>.*"; a list of names or maps does as well
  Text,     // a string; see `rule`
  Word,     // a string out of `values`
  Integer,  // min..max
  Number,   // a decimal number, min..max
  Boolean,
  Size,  // bytes: an integer, or text such as "1GiB"
};

struct RuleContext {
  std::string_view path;
  Diagnostics& diagnostics;
  void error(std::string code, const Node& node, std::string message, std::string hint = {}) const {
    diagnostics.error(std::move(code), node.at, std::move(message), std::move(hint));
  }
};
/// Checks a text that has the right type; reports what is wrong with it.
using Rule = void (*)(const Node&, RuleContext&);

struct Key;
/// Puts the value of a key into its member.
template <typename Owner>
using Into = void (*)(Owner& owner, const Node& value, const Key& key);
/// Where the value of a key goes; null: the key is a container, or the reader of its container handles it.
using Binding = std::variant<std::monostate, Into<Spec>, Into<OpSpec>, Into<TestSkip>, Into<CustomOpSpec>,
                             Into<TestsSpec::Tolerance>, Into<TestsSpec::Exclusion>>;

struct Key {
  std::string_view path = {};  // "backend.name", "ops.*.dtypes", "ops.*.dtypes[]"
  KeyType type = KeyType::Text;
  Binding into = {};
  // The default, as a spec would have it; <name>, <Name> and <theName> are the backend's. Empty: none.
  std::string_view fallback = {};
  std::string_view unset = {};                    // what holds without a default: "no limit"; or how that is said
  std::span<const std::string_view> values = {};  // Word; none: those of the vocabulary
  std::string_view description = {};              // one sentence; Markdown
  std::string_view example = {};
  std::int64_t min = 0, max = 0;  // Integer, Number and Size
  Rule rule = nullptr;
  std::string_view pattern = {};    // for the JSON Schema: what `rule` wants, as far as a pattern can say it
  std::string_view shorthand = {};  // Map: the key that a lone word sets: `fallback: cpu`
  bool required = false;
};

/// In the order of the reference page.
std::span<const Key> all_keys();
/// Null if there is no such key. `path` uses "*" and "[]" for free keys and items.
const Key* find_key(std::string_view path);
inline const Key* find_key(std::string_view path, std::string_view below) {
  return find_key(std::string(path) + std::string(below));
}
/// For a Map: the key that a lone word sets; null if there is none.
inline const Key* shorthand_of(const Key& key) {
  return key.shorthand.empty() ? nullptr : find_key(key.path, "." + std::string(key.shorthand));
}
/// The keys right below a Map.
std::vector<const Key*> child_keys(std::string_view path);
/// The words that a key takes, and what the reference page says of it.
inline std::span<const std::string_view> words_of(const Key& key, const Vocabulary& vocabulary) {
  return key.type == KeyType::Word && key.values.empty() ? vocabulary.words : key.values;
}
inline std::string_view about(const Key& key, const Vocabulary& vocabulary) {
  return key.type == KeyType::Word && key.values.empty() ? vocabulary.about : key.description;
}
/// "`structured`: shapes and dtypes come from PyTorch. `pointwise`: ..."
std::string about_each(const auto& list) {
  std::string out;
  for (const auto& each : list) out += fmt::format("{}`{}`: {}", out.empty() ? "" : " ", each.word, each.about);
  return out;
}
/// The default as on the reference page; empty: none.
std::string_view default_text(const Key& key);
/// "name" for "backend.name".
std::string_view last_part(BorrowedText path);

/// JSON Schema (draft 2020-12) of the spec, indented, with a newline at its end: specs/schema.json.
std::string spec_json_schema(const Vocabulary& vocabulary);
/// docs/reference/spec.md.
std::string spec_markdown(const Vocabulary& vocabulary);

}  // namespace openreg_gen
