// Adds and removes entries in a spec's text. Everything else stays, byte for byte: comments, order, indentation,
// quotes, line breaks. The result is read again and compared with the intended spec, so an edit is right or refused.
// Pure.
#pragma once

#include "spec/document.h"

#include <string>
#include <utility>
#include <vector>

namespace openreg_gen {

struct OpEntry {
  std::string name;
  std::string strategy;
  std::vector<std::pair<std::string, Node>> more;  // other keys: {"override", true}
};

/// The text with one more operator under `ops`: at the end, or at its place if three or more are sorted. Throws
/// Failure(BadInput, E0550) if the text has a form that is not understood. `path`: for messages, and .json.
std::string with_op(const std::string& text, const fs::path& path, const OpEntry& op);
/// The same for a schema under `custom_ops`.
std::string with_custom_op(const std::string& text, const fs::path& path, const std::string& schema);

/// With `section: {key: word}`: the word of the key is another, or the key is added. With an empty `key` the section
/// itself has the word, as in `profile: minimal`. Throws as with_op().
std::string with_word(const std::string& text, const fs::path& path, const std::string& section, const std::string& key,
                      const Node& word);

/// Without the entry of this name, or its entries for several releases. Comments go if they stand in its lines, and
/// stay if they precede it. The entry must be there, else E0550.
std::string without_op(const std::string& text, const fs::path& path, const std::string& name);
/// `index`: which of the custom operators.
std::string without_custom_op(const std::string& text, const fs::path& path, std::size_t index);

}  // namespace openreg_gen
