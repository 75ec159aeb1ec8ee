#include "edit/style.h"

#include "base/text.h"

#include <array>

namespace openreg_gen {
namespace {

/// True if YAML reads the plain text as this text, and as a string, wherever it stands.
bool plain_fits(std::string_view text, bool key, bool flow) {
  constexpr std::array<std::string_view, 10> kWords = {"true", "false", "null", "yes", "no",
                                                       "on",   "off",   "y",    "n",   "~"};
  if (text.empty() || !(is_letter(text[0]) || text[0] == '_')) return false;
  if (text.back() == ' ' || text.back() == ':') return false;
  if (std::ranges::find(kWords, lower_case(text)) != kWords.end()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c < 0x20 || c >= 0x7F || (key && !(is_word(c) || c == '.'))) return false;
    if ((c == ':' && (next == ' ' || flow)) || (c == ' ' && next == '#')) return false;
    if (flow && contains(std::string_view(",[]{}"), text[i])) return false;
  }
  return true;
}

}  // namespace

std::string in_quotes(std::string_view text, char quote) {
  const bool single = quote == '\'' && std::ranges::none_of(text, [](unsigned char c) { return c < 0x20; });
  std::string out(1, single ? '\'' : '"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (single) {
      out += c == '\'' ? "''" : std::string(1, c);
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20) {
      out += "\\u00";
      out += "0123456789abcdef"[byte >> 4];
      out += "0123456789abcdef"[byte & 15];
    } else {
      out += c;
    }
  }
  return out + out[0];
}

Style read_style(const Layout& layout, std::string_view text, bool json, const Node& node, const Container& container) {
  Style style;
  style.json = json;
  style.line_break = layout.line_break();
  if (json) style.key_quote = style.value_quote = '"';
  const auto quote_at = [&](std::size_t i) {
    return i < text.size() && (text[i] == '"' || text[i] == '\'') ? text[i] : '\0';
  };
  bool first_key = true, first_value = true, blocks = false, brackets = false;
  for (std::size_t i = 0; i < node.entries.size() && i < container.slots.size() && !json; ++i) {
    const Slot& slot = container.slots[i];
    const char key = quote_at(slot.begin), value = quote_at(slot.value);
    style.key_quote = first_key || style.key_quote == key ? key : '\0';
    first_key = false;
    if (node.entries[i].second.kind == Node::Kind::String) {
      style.value_quote = first_value || style.value_quote == value ? value : '\0';
      first_value = false;
    } else if (node.entries[i].second.kind == Node::Kind::Map) {
      (slot.value < text.size() && text[slot.value] == '{' ? brackets : blocks) = true;
    }
  }
  style.nest_in_brackets = brackets && !blocks;
  if (container.flow && !container.slots.empty() && !node.entries.empty()) {
    const Slot& slot = container.slots[0];
    const std::size_t end = layout.key_end(slot.begin, true);
    const std::string_view between = text.substr(end, std::max(slot.value, end) - end);
    if (between.find_first_not_of(" :") == std::string_view::npos && !between.empty()) style.colon = between;
  }
  if (container.flow && container.slots.size() > 1) {
    const std::size_t end = container.slots[0].end;
    const std::string_view between = text.substr(end, container.slots[1].begin - end);
    if (between == ",") style.comma = ",";
  }
  if (json && style.colon == ":" && container.slots.size() == 1) style.comma = ",";
  return style;
}

std::string scalar_text(const Node& node, const Style& style, bool key, bool flow) {
  if (node.kind == Node::Kind::Boolean && !key) return node.text;
  const char quote = key ? style.key_quote : style.value_quote;
  if (quote != 0) return in_quotes(node.text, quote);
  return plain_fits(node.text, key, flow) ? node.text : in_quotes(node.text, '"');
}

std::string flow_text(const Node& node, const Style& style, const std::string* indent) {
  if (node.is_scalar()) return scalar_text(node, style, false, true);
  const bool map = node.kind == Node::Kind::Map;
  const std::string inner = indent ? *indent + style.unit : "";
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!out.empty()) out += indent ? "," : style.comma;
    if (indent) out += style.line_break + inner;
    out += text;
  };
  for (const auto& [key, value] : node.entries)
    add(scalar_text(key, style, true, true) + style.colon + flow_text(value, style));
  for (const Node& item : node.items) add(flow_text(item, style));
  if (indent && !out.empty()) out += style.line_break + *indent;
  return (map ? "{" : "[") + out + (map ? "}" : "]");
}

std::string block_value(const Node& node, const Style& style, const std::string& indent) {
  if (node.is_scalar()) return " " + scalar_text(node, style, false, false);
  if (style.nest_in_brackets) return " " + flow_text(node, style);
  std::string out;
  const std::string inner = indent + style.unit;
  for (const auto& [key, value] : node.entries)
    out += style.line_break + inner + scalar_text(key, style, true, false) + ":" + block_value(value, style, inner);
  for (const Node& item : node.items) out += style.line_break + block_item(item, style, inner);
  return out;
}

std::string block_item(const Node& item, const Style& style, const std::string& indent) {
  if (item.kind != Node::Kind::Map) return indent + "- " + scalar_text(item, style, false, false);
  if (style.nest_in_brackets) return indent + "- " + flow_text(item, style);
  std::string out, lead = "- ";
  for (const auto& [key, value] : item.entries) {
    if (!out.empty()) out += style.line_break;
    out += indent + lead + scalar_text(key, style, true, false) + ":" + block_value(value, style, indent + "  ");
    lead = "  ";
  }
  return out;
}

Node text_node(std::string text, Node::Kind kind) { return {.kind = kind, .text = std::move(text)}; }

Node map_node(std::vector<std::pair<Node, Node>> entries) {
  return {.kind = Node::Kind::Map, .entries = std::move(entries)};
}

bool same(const Node& a, const Node& b) {
  const auto same_entry = [](const auto& x, const auto& y) {
    return same(x.first, y.first) && same(x.second, y.second);
  };
  return a.kind == b.kind && a.text == b.text && std::ranges::equal(a.items, b.items, same) &&
         std::ranges::equal(a.entries, b.entries, same_entry);
}

}  // namespace openreg_gen
