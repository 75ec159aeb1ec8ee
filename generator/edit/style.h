// How a new entry is written so that it looks like those around it.
#pragma once

#include "edit/layout.h"

#include <string>
#include <string_view>

namespace openreg_gen {

struct Style {
  bool json = false;
  char key_quote = 0, value_quote = 0;  // 0: only where it is needed
  std::string colon = ": ";             // between key and value, in brackets
  std::string comma = ", ";             // between entries of one line
  std::string unit = "  ";              // one level
  std::string line_break = "\n";
  bool nest_in_brackets = false;  // a map within a block stands in brackets
};

/// Reads the style off a container (what of it has entries) and off the whole text.
Style read_style(const Layout& layout, std::string_view text, bool json, const Node& node, const Container& container);

/// As YAML reads it: between the quotes, or between double ones where it holds control characters.
std::string in_quotes(std::string_view text, char quote);
std::string scalar_text(const Node& node, const Style& style, bool key, bool flow);
/// "{a: b}", "[x]", "word". With `indent`, each entry of the outermost level is on a line of its own, one level deeper.
std::string flow_text(const Node& node, const Style& style, const std::string* indent = nullptr);
/// What follows "key:" or "-" in a block: " word", or lines of their own, without the last line break.
std::string block_value(const Node& node, const Style& style, const std::string& indent);
/// An item of a block's list, its dash at `indent`, without the last line break.
std::string block_item(const Node& item, const Style& style, const std::string& indent);

Node text_node(std::string text, Node::Kind kind = Node::Kind::String);
Node map_node(std::vector<std::pair<Node, Node>> entries);
/// True if kinds, texts, keys and order are the same; places are not looked at.
bool same(const Node& a, const Node& b);

}  // namespace openreg_gen
