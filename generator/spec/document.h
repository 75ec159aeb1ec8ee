// The text of a spec as a tree of nodes, the same for YAML and for JSON, before anything is known about keys.
//
// Reading is bounded: size, depth and the number of nodes after aliases were expanded have limits, so that no input
// takes more than some 30 MiB or a second.
#pragma once

#include "diag/diagnostic.h"
#include "system/files.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace openreg_gen {

inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxNodes = 50'000;
inline constexpr int kMaxDepth = 32;

struct Node {
  enum class Kind { Null, Boolean, Integer, Number, String, List, Map };

  Kind kind = Kind::Null;
  std::string text{};  // scalars: the value as written, unescaped
  Location at{};
  std::vector<Node> items{};                     // List
  std::vector<std::pair<Node, Node>> entries{};  // Map, in the order of the text; keys are scalars

  bool is_scalar() const { return kind != Kind::List && kind != Kind::Map; }
  const Node* find(std::string_view key) const;
};

/// "text", "a list", ...: for messages.
std::string_view describe(Node::Kind kind);

/// Reads the bytes of a file. An unreadable, too large or non-text file gives an error and no value.
std::optional<std::string> read_spec_file(const fs::path& path, Diagnostics& diagnostics);

/// Text to tree; no value if the text is not well-formed (the errors say why). A byte order mark is skipped.
std::optional<Node> read_document(std::string_view text, const fs::path& path, Diagnostics& diagnostics);

/// The place of byte `offset` in the value of a scalar: exact if the text contains the value literally, otherwise the
/// scalar's own place.
Location place_inside(const Node& scalar, std::size_t offset, std::string_view text);

}  // namespace openreg_gen
