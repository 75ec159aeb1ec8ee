#include "edit/spec_edit.h"

#include "diag/failure.h"
#include "edit/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace openreg_gen {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";

[[noreturn]] void refuse(const fs::path& path, const Location& at, const std::string& what) {
  const std::string place = at.line > 0 ? fmt::format("{}:{}:{}", path.string(), at.line, at.column) : path.string();
  throw Failure(Exit::BadInput, "E0550",
                fmt::format("{}: cannot {}: the spec is in a form that openreg-gen can't edit", place, what),
                "edit the spec by hand, then run `openreg-gen generate`");
}

auto entry_of(auto& map, const std::string& name) {
  return std::ranges::find(map.entries, name, [](const auto& entry) { return entry.first.text; });
}

/// One edit of one top-level list or map of a spec.
class Edit {
 public:
  Edit(const std::string& text, fs::path path, std::string section, std::string what)
      : mark_(text.starts_with(kMark)),
        text_(mark_ ? text.substr(kMark.size()) : text),
        path_(std::move(path)),
        section_(std::move(section)),
        what_(std::move(what)),
        layout_(text_) {
    root_ = read(text_);
    if (root_.kind != Node::Kind::Map) give_up();
    json_ = !text_.empty() && layout_.offset(root_.at) < text_.size() && text_[layout_.offset(root_.at)] == '{' &&
            (path_.extension() == ".json" || text_.find(": ") == std::string::npos || quotes_all_keys());
  }

  const Node* section() const { return root_.find(section_); }

  /// `entry`: as it is in a map, and as it is in a list.
  std::string add(const std::string& key, const Node& value, const std::vector<Node>& items, bool prefer_list);
  /// The section's own word, or that of one of its keys.
  std::string set(const std::string& key, const Node& word);
  std::string remove(std::size_t index);
  [[noreturn]] void give_up() const { refuse(path_, place_, what_); }

 private:
  struct Piece {
    std::size_t at, length;
    std::string text;
  };

  Node read(const std::string& text) const {
    Diagnostics diagnostics;
    auto node = read_document(text, path_, diagnostics);
    if (!node) give_up();
    return std::move(*node);
  }

  bool quotes_all_keys() const {
    return std::ranges::all_of(root_.entries,
                               [&](const auto& entry) { return text_[layout_.offset(entry.first.at)] == '"'; });
  }

  Container located(const Node& node, std::size_t begin) const {
    auto container = layout_.container(node, begin);
    if (!container) give_up();
    return std::move(*container);
  }
  Container located_root() const { return located(root_, layout_.offset(root_.at)); }
  /// Where the value of a key begins.
  std::size_t begin_of(const Node& key, const Node& value, bool flow) const {
    const auto begin = layout_.value_begin(layout_.offset(key.at), value, flow);
    if (!begin) give_up();
    return *begin;
  }
  /// An entry of {} or [] in a JSON that is laid out is on a line of its own.
  std::string in_empty(const Container& at, const Container& root, const Node& key, const Style& style,
                       std::string entry) const {
    const std::size_t key_at = layout_.offset(key.at);
    if (!at.slots.empty() || !root.flow || !layout_.first_in_line(key_at)) return entry;
    const std::string indent = indent_at(key_at);
    return style.line_break + indent + style.unit + entry + style.line_break + indent;
  }

  std::string indent_at(std::size_t at) const { return text_.substr(layout_.line_begin(at), layout_.indent(at)); }

  /// One level of the text, as far as it shows one.
  std::string unit() const {
    for (const auto& [key, value] : root_.entries) {
      const Node* first = value.kind == Node::Kind::Map && !value.entries.empty() ? &value.entries[0].first : nullptr;
      if (!first) continue;
      const std::size_t outer = layout_.offset(key.at), inner = layout_.offset(first->at);
      if (!layout_.first_in_line(inner) || layout_.indent(inner) <= layout_.indent(outer)) continue;
      return text_.substr(layout_.line_begin(inner), layout_.indent(inner) - layout_.indent(outer));
    }
    return "  ";
  }

  std::string finish(std::vector<Piece> pieces, const Node& wanted) const {
    std::string out = text_;
    std::ranges::sort(pieces, std::ranges::greater{}, &Piece::at);
    for (const Piece& piece : pieces) out.replace(piece.at, piece.length, piece.text);
    Diagnostics diagnostics;
    const auto found = read_document(out, path_, diagnostics);
    if (!found || !same(*found, wanted)) give_up();
    return (mark_ ? std::string(kMark) : "") + out;
  }

  std::vector<Piece> add_in_brackets(const Container& at, const Style& style, const std::string& entry,
                                     std::size_t slot, std::size_t level) const;
  Piece add_in_block(const Container& at, std::size_t slot, std::string entry) const;
  std::string add_section(const Node& value) const;

  bool mark_;
  std::string text_;
  fs::path path_;
  std::string section_, what_;
  Location place_;
  Layout layout_;
  Node root_;
  bool json_ = false;
};

/// `slot`: the new entry's place among those that are there.
Edit::Piece Edit::add_in_block(const Container& at, std::size_t slot, std::string entry) const {
  const std::string line_break(layout_.line_break());
  if (slot > 0) return {layout_.entry_end(at.slots[slot - 1]), 0, line_break + entry};
  return {layout_.entry_begin(at.slots[0]), 0, entry + line_break};
}

std::vector<Edit::Piece> Edit::add_in_brackets(const Container& at, const Style& style, const std::string& entry,
                                               std::size_t slot, std::size_t level) const {
  if (at.slots.empty()) {
    const std::string inside = text_.substr(at.open + 1, at.close - at.open - 1);
    if (inside.find_first_not_of(" \t\r\n") != std::string::npos) give_up();
    return {{at.open + 1, inside.size(), entry}};
  }
  const auto own_line = [&](std::size_t i) { return layout_.first_in_line(at.slots[i].begin); };
  if (slot == 0) {
    const std::string after = own_line(0) ? "," + style.line_break + indent_at(at.slots[0].begin) : style.comma;
    return {{at.slots[0].begin, 0, entry + after}};
  }
  const Slot& before = at.slots[slot - 1];
  const std::size_t mark = layout_.skip_blanks(before.end);
  const bool comma = mark < text_.size() && text_[mark] == ',';
  if (!own_line(slot - 1) || level > 0) return {{before.end, 0, style.comma + entry}};
  const std::string line = style.line_break + indent_at(before.begin) + entry;
  if (!layout_.last_in_line(comma ? mark + 1 : before.end)) return {{before.end, 0, "," + line}};
  std::vector<Piece> pieces{{layout_.line_end(before.end), 0, line + (comma ? "," : "")}};
  if (!comma) pieces.push_back({before.end, 0, ","});
  if (!comma && pieces[0].at == before.end) return {{before.end, 0, "," + line}};
  return pieces;
}

std::string Edit::add_section(const Node& value) const {
  Node wanted = root_;
  std::erase_if(wanted.entries, [&](const auto& entry) { return entry.first.text == section_; });
  const Node key = text_node(section_);
  if (const Node* empty = section()) {  // "ops:" without a value: its entries follow its line
    const auto found = entry_of(root_, section_);
    const std::size_t key_at = layout_.offset(found->first.at);
    const auto at_value = layout_.value_begin(key_at, *empty, false);
    if (json_ || !at_value || !layout_.last_in_line(*at_value)) give_up();
    Style style;
    style.line_break = layout_.line_break();
    style.unit = unit();
    wanted = root_;
    entry_of(wanted, section_)->second = value;
    return finish({{layout_.line_end(key_at), 0, block_value(value, style, indent_at(key_at))}}, wanted);
  }
  wanted.entries.emplace_back(key, value);
  const Container root = located_root();
  Style style = read_style(layout_, text_, json_, root_, root);
  style.unit = unit();
  if (root.flow) {
    const bool lines = !root.slots.empty() && layout_.first_in_line(root.slots.back().begin);
    const std::string indent = lines ? indent_at(root.slots.back().begin) : "";
    if (lines) style.unit = indent;
    const std::string entry =
        scalar_text(key, style, true, true) + style.colon + flow_text(value, style, lines ? &indent : nullptr);
    return finish(add_in_brackets(root, style, entry, root.slots.size(), 0), wanted);
  }
  const std::string line_break = style.line_break;
  style.value_quote = 0;
  style.nest_in_brackets = false;
  const bool ended = text_.ends_with('\n') || text_.ends_with('\r');
  const bool spaced = text_.find(line_break + line_break) != std::string::npos;
  const std::string entry = scalar_text(key, style, true, false) + ":" + block_value(value, style, "");
  return finish(
      {{text_.size(), 0, (ended ? "" : line_break) + (spaced ? line_break : "") + entry + (ended ? line_break : "")}},
      wanted);
}

std::string Edit::add(const std::string& name, const Node& value, const std::vector<Node>& items, bool prefer_list) {
  const Node* node = section();
  const auto list_of = [](std::vector<Node> content) {
    return Node{.kind = Node::Kind::List, .items = std::move(content)};
  };
  if (!node || node->kind == Node::Kind::Null)
    return add_section(prefer_list ? list_of({items[0]}) : map_node({{text_node(name), value}}));
  const auto found = entry_of(root_, section_);
  place_ = found->first.at;
  const std::size_t key_at = layout_.offset(found->first.at);
  const Container root = located_root();
  const std::size_t begin = begin_of(found->first, *node, root.flow);
  Node wanted = root_;
  Node& section = entry_of(wanted, section_)->second;

  if (node->is_scalar()) {  // one selection: it becomes the first of a list
    const std::size_t end = layout_.value_end(*node, begin, root.flow, layout_.indent(key_at));
    Style style = read_style(layout_, text_, json_, root_, root);
    if (!json_) style.value_quote = 0;
    section = list_of({*node, items[0]});
    const std::string old = text_.substr(begin, end - begin);
    return finish({{begin, end - begin, "[" + old + ", " + flow_text(items[0], style) + "]"}}, wanted);
  }

  const Container at = located(*node, begin);
  Style style = read_style(layout_, text_, json_, *node, at);
  style.unit = unit();
  if (node->kind == Node::Kind::Map) {
    std::size_t slot = node->entries.size();
    const auto name_of = [](const auto& entry) -> const std::string& { return entry.first.text; };
    if (slot >= 3 && std::ranges::is_sorted(node->entries, {}, name_of)) {
      slot =
          static_cast<std::size_t>(std::ranges::lower_bound(node->entries, name, {}, name_of) - node->entries.begin());
    }
    section.entries.insert(section.entries.begin() + static_cast<std::ptrdiff_t>(slot), {text_node(name), value});
    const std::string key = scalar_text(text_node(name), style, true, at.flow);
    if (at.flow) {
      const std::string entry = in_empty(at, root, found->first, style, key + style.colon + flow_text(value, style));
      return finish(add_in_brackets(at, style, entry, slot, 0), wanted);
    }
    const std::string indent = indent_at(at.slots.empty() ? key_at : at.slots[0].begin);
    if (layout_.skip_blanks(layout_.line_begin(at.slots[0].begin)) != at.slots[0].begin) give_up();
    return finish({add_in_block(at, slot, indent + key + ":" + block_value(value, style, indent))}, wanted);
  }

  // A list: entries look like the last one that can serve.
  const Node* entry = &items[0];
  for (const Node& item : node->items) {
    for (const Node& candidate : items) {
      const bool named = candidate.find("name") != nullptr || candidate.find("schema") != nullptr;
      const bool item_named = item.find("name") != nullptr || item.find("schema") != nullptr;
      if (item.kind == candidate.kind && named == item_named) entry = &candidate;
    }
  }
  section.items.push_back(*entry);
  if (at.flow) {
    const std::string text = in_empty(at, root, found->first, style, flow_text(*entry, style));
    return finish(add_in_brackets(at, style, text, at.slots.size(), 0), wanted);
  }
  const Slot& last = at.slots.back();
  bool blocks = false, brackets = false;
  for (std::size_t i = 0; i < at.slots.size(); ++i)
    if (node->items[i].kind == Node::Kind::Map) (text_[at.slots[i].value] == '{' ? brackets : blocks) = true;
  style.nest_in_brackets = brackets && !blocks;
  const std::string text = style.line_break + block_item(*entry, style, indent_at(last.begin));
  return finish({{layout_.entry_end(last), 0, text}}, wanted);
}

std::string Edit::set(const std::string& key, const Node& word) {
  const Node* node = section();
  if (key.empty() && !node) return add_section(word);
  if (!key.empty() && (!node || !node->find(key))) return add(key, word, {map_node({{text_node(key), word}})}, false);
  auto found = entry_of(root_, section_);
  Container at = located_root();
  Node wanted = root_;
  Node* target = &entry_of(wanted, section_)->second;
  if (!key.empty()) {
    at = located(found->second, begin_of(found->first, found->second, at.flow));
    target = &entry_of(*target, key)->second;
    found = entry_of(found->second, key);
  }
  place_ = found->first.at;
  const Node& old = found->second;
  const std::size_t key_at = layout_.offset(found->first.at);
  const auto begin = layout_.value_begin(key_at, old, at.flow);
  if (!begin || !old.is_scalar() || old.kind == Node::Kind::Null) give_up();
  *target = word;
  const Style style = read_style(layout_, text_, json_, root_, located(root_, layout_.offset(root_.at)));
  const std::size_t end = layout_.value_end(old, *begin, at.flow, layout_.indent(key_at));
  std::string value = flow_text(word, style);
  std::size_t gap = text_.find_first_not_of(' ', end);  // a comment behind it keeps its column
  if (gap == std::string::npos || gap == end || text_[gap] != '#')
    return finish({{*begin, end - *begin, value}}, wanted);
  value.resize(std::max(gap - *begin, value.size() + 2), ' ');
  return finish({{*begin, gap - *begin, value}}, wanted);
}

std::string Edit::remove(std::size_t index) {
  const auto found = entry_of(root_, section_);
  if (found == root_.entries.end()) give_up();
  const Node& node = found->second;
  place_ = found->first.at;
  const Container at = located(node, begin_of(found->first, node, located_root().flow));
  if (index >= at.slots.size()) give_up();
  Node wanted = root_;
  Node& section = entry_of(wanted, section_)->second;
  if (node.kind == Node::Kind::Map)
    section.entries.erase(section.entries.begin() + static_cast<std::ptrdiff_t>(index));
  else
    section.items.erase(section.items.begin() + static_cast<std::ptrdiff_t>(index));
  const Slot& slot = at.slots[index];
  const bool last = index + 1 == at.slots.size();

  if (!at.flow) {
    if (at.slots.size() == 1) section = Node{};
    if (!layout_.first_in_line(slot.begin)) give_up();
    std::size_t first = layout_.line_begin(slot.begin), end = layout_.entry_end(slot);
    if (end < text_.size()) {
      end += layout_.line_break().size();
    } else if (first > 0) {
      first = layout_.line_end(first - 1);  // the file keeps ending as it did: without a line break
    }
    return finish({{first, end - first, ""}}, wanted);
  }
  if (at.slots.size() == 1) return finish({{at.open + 1, at.close - at.open - 1, ""}}, wanted);
  const std::size_t mark = layout_.skip_blanks(slot.end);
  const bool comma = mark < text_.size() && text_[mark] == ',';
  if (layout_.first_in_line(slot.begin) && layout_.last_in_line(comma ? mark + 1 : slot.end)) {
    const std::size_t first = layout_.line_begin(slot.begin);
    const std::size_t end = layout_.line_end(slot.end) + layout_.line_break().size();
    std::vector<Piece> pieces{{first, end - first, ""}};
    if (last && !comma) {
      const std::size_t before = text_.find(',', at.slots[index - 1].end);
      if (before == std::string::npos || before >= slot.begin) give_up();
      pieces.push_back({before, 1, ""});
    }
    return finish(std::move(pieces), wanted);
  }
  if (!last) return finish({{slot.begin, at.slots[index + 1].begin - slot.begin, ""}}, wanted);
  const std::size_t before = at.slots[index - 1].end;
  return finish({{before, slot.end - before, ""}}, wanted);
}

/// The place of an operator's entry in `ops`, a map or a list.
std::optional<std::size_t> place_of(const Node& ops, const std::string& name) {
  for (std::size_t i = 0; i < ops.entries.size(); ++i)
    if (ops.entries[i].first.text == name) return i;
  for (std::size_t i = 0; i < ops.items.size(); ++i) {
    const Node& item = ops.items[i];
    const Node* named = item.find("name");
    const bool only = item.entries.size() == 1 && item.entries[0].first.text == name;
    if ((item.is_scalar() && item.text == name) || (named && named->text == name) || only) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string with_op(const std::string& text, const fs::path& path, const OpEntry& op) {
  Edit edit(text, path, "ops", "add an operator");
  const Node name = text_node(op.name), strategy = text_node(op.strategy);
  std::vector<std::pair<Node, Node>> fields{{text_node("strategy"), strategy}};
  for (const auto& [key, value] : op.more) fields.emplace_back(text_node(key), value);
  const Node value = op.more.empty() ? strategy : map_node(fields);
  fields.insert(fields.begin(), {text_node("name"), name});
  std::vector<Node> items{map_node({{name, value}}), map_node(std::move(fields))};
  if (op.more.empty() && op.strategy == "native") items.push_back(name);
  return edit.add(op.name, value, items, false);
}

std::string with_custom_op(const std::string& text, const fs::path& path, const std::string& schema) {
  Edit edit(text, path, "custom_ops", "add a custom operator");
  return edit.add({}, {}, {map_node({{text_node("schema"), text_node(schema)}}), text_node(schema)}, true);
}

std::string with_word(const std::string& text, const fs::path& path, const std::string& section, const std::string& key,
                      const Node& word) {
  return Edit(text, path, section, "write `" + (key.empty() ? section : key) + ": " + word.text + "`").set(key, word);
}

std::string without_op(const std::string& text, const fs::path& path, const std::string& name) {
  std::string left = text;
  for (bool found = false;; found = true) {  // entries for several releases go together
    Edit edit(left, path, "ops", "remove an operator");
    const Node* ops = edit.section();
    const auto place = ops ? place_of(*ops, name) : std::nullopt;
    if (!place && !found) edit.give_up();
    if (!place) return left;
    left = edit.remove(*place);
  }
}

std::string without_custom_op(const std::string& text, const fs::path& path, std::size_t index) {
  return Edit(text, path, "custom_ops", "remove a custom operator").remove(index);
}

}  // namespace openreg_gen
