// The one table of the spec's keys. The parser's checks, the JSON Schema and docs/spec.md derive from it.
#pragma once

#include "spec/document.h"

#include <cstdint>
#include <span>
#include <string_view>

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
};
/// Checks a text that has the right type; reports what is wrong with it.
using Rule = void (*)(const Node&, RuleContext&);

struct Key {
  std::string_view path = {};  // "backend.name", "ops.*.dtypes", "ops.*.dtypes[]"
  KeyType type = KeyType::Text;
  std::string_view fallback = {};                 // the default, as a reader would write it; empty: none
  std::span<const std::string_view> values = {};  // Word
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
/// The keys right below a Map.
std::vector<const Key*> child_keys(std::string_view path);
/// "name" for "backend.name".
std::string_view last_part(std::string_view path);

}  // namespace openreg_gen
