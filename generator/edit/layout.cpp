#include "edit/layout.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

bool blank(char c) { return c == ' ' || c == '\t'; }
bool space(char c) { return blank(c) || c == '\n' || c == '\r'; }
bool flow_mark(char c) { return contains(std::string_view(",[]{}"), c); }

}  // namespace

Layout::Layout(BorrowedText text) : text_(text), starts_(line_starts(text)) {
  if (const auto first = text.find('\n'); first != std::string_view::npos && first > 0 && text[first - 1] == '\r')
    line_break_ = "\r\n";
}

std::size_t Layout::offset(const Location& where) const {
  const auto line = static_cast<std::size_t>(std::max(where.line, 1)) - 1;
  return line < starts_.size() ? column_offset(text_, starts_[line], where.column) : text_.size();
}

std::size_t Layout::line_begin(std::size_t i) const { return *(std::ranges::upper_bound(starts_, i) - 1); }

std::size_t Layout::line_end(std::size_t i) const {
  const auto next = std::ranges::upper_bound(starts_, i);
  if (next == starts_.end()) return text_.size();
  std::size_t end = *next - 1;
  return end > 0 && text_[end] == '\n' && text_[end - 1] == '\r' ? end - 1 : end;
}

bool Layout::first_in_line(std::size_t i) const { return skip_blanks(line_begin(i)) == i; }

bool Layout::last_in_line(std::size_t i) const {
  const auto next = skip_blanks(i);
  return next >= line_end(i) || comment_at(next);
}

std::size_t Layout::skip_blanks(std::size_t i) const {
  while (blank(at(i))) ++i;
  return i;
}

bool Layout::comment_at(std::size_t i) const { return at(i) == '#' && (i == 0 || space(text_[i - 1])); }

std::size_t Layout::skip_space(std::size_t i) const {
  for (; i < text_.size(); ++i) {
    if (comment_at(i)) i = line_end(i);
    if (!space(at(i))) break;
  }
  return std::min(i, text_.size());
}

std::size_t Layout::quoted_end(std::size_t i) const {
  const char quote = text_[i];
  for (++i; i < text_.size(); ++i) {
    if (quote == '"' && text_[i] == '\\') {
      ++i;
    } else if (text_[i] == quote) {
      if (quote == '"' || at(i + 1) != quote) return i + 1;
      ++i;  // '' within '...'
    }
  }
  return text_.size();
}

std::size_t Layout::bracket_end(std::size_t i) const {
  int depth = 0;
  for (bool token = true; i < text_.size();) {
    const char c = text_[i];
    if (comment_at(i)) {
      i = line_end(i);
    } else if (token && (c == '"' || c == '\'')) {
      i = quoted_end(i);
      token = false;
    } else {
      ++i;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return i;
      if (!space(c)) token = flow_mark(c) || c == ':';  // elsewhere a quote is part of a plain text
    }
  }
  return text_.size();
}

std::size_t Layout::line_content_end(std::size_t i) const {
  const std::size_t end = line_end(i);
  std::size_t last = i;
  for (; i < end && !comment_at(i); ++i)
    if (!blank(text_[i])) last = i + 1;
  return last;
}

std::size_t Layout::block_scalar_end(std::size_t i, std::size_t indent_of_key) const {
  std::size_t end = line_content_end(i);
  for (auto line = std::ranges::upper_bound(starts_, i); line != starts_.end(); ++line) {
    const std::size_t first = skip_blanks(*line), stop = line_end(*line);
    if (first >= stop) continue;
    if (first - *line <= indent_of_key) break;
    end = stop;
  }
  return end;
}

std::size_t Layout::plain_end(std::size_t i, bool flow, std::size_t indent_of_key) const {
  if (flow) {
    std::size_t end = i;
    for (; i < text_.size(); ++i) {
      const char c = text_[i];
      if (flow_mark(c) || comment_at(i) || (c == ':' && (space(at(i + 1)) || flow_mark(at(i + 1))))) break;
      if (!space(c)) end = i + 1;
    }
    return end;
  }
  std::size_t end = line_content_end(i);
  for (auto line = std::ranges::upper_bound(starts_, i); line != starts_.end(); ++line) {
    const std::size_t first = skip_blanks(*line);
    if (first >= line_end(*line)) continue;
    const bool commented = skip_blanks(end) < line_end(end);  // a comment ends a plain text
    if (first - *line <= indent_of_key || at(first) == '#' || commented) break;
    end = line_content_end(first);
  }
  return end;
}

std::size_t Layout::key_end(std::size_t i, bool flow) const {
  if (at(i) == '"' || at(i) == '\'') return quoted_end(i);
  const std::size_t stop = line_end(i);
  std::size_t end = i;
  for (; i < stop && !comment_at(i); ++i) {
    const char next = at(i + 1);
    if (text_[i] == ':' && (i + 1 >= stop || space(next) || (flow && flow_mark(next)))) break;
    if (flow && flow_mark(text_[i])) break;
    if (!blank(text_[i])) end = i + 1;
  }
  return end;
}

std::optional<std::size_t> Layout::value_begin(std::size_t key, const Node& value, bool flow) const {
  const std::size_t colon = skip_space(key_end(key, flow));
  if (at(colon) != ':') return std::nullopt;
  const std::size_t next = skip_blanks(colon + 1);
  if (value.kind != Node::Kind::Null) return skip_space(next);
  const bool nothing = next >= line_end(colon) || comment_at(next) || (flow && flow_mark(at(next)));
  return nothing ? colon + 1 : next;
}

std::size_t Layout::value_end(const Node& node, std::size_t begin, bool flow, std::size_t indent_of_key) const {
  const char c = at(begin);
  const auto word_end = [&] {
    std::size_t i = begin;
    while (i < text_.size() && !space(text_[i]) && !(flow && flow_mark(text_[i]))) ++i;
    return i;
  };
  if (c == '*') return word_end();
  if (c == '&' || c == '!') return value_end(node, skip_space(word_end()), flow, indent_of_key);
  if (c == '{' || c == '[') return bracket_end(begin);
  if (node.kind == Node::Kind::Map && !node.entries.empty()) {
    const auto& [key, value] = node.entries.back();
    const std::size_t at_key = offset(key.at);
    const auto at_value = value_begin(at_key, value, flow);
    return at_value ? value_end(value, *at_value, flow, indent(at_key)) : key_end(at_key, flow);
  }
  if (node.kind == Node::Kind::List) {
    const auto list = container(node, begin);
    return list && !list->slots.empty() ? list->slots.back().end : begin;
  }
  if (c == '"' || c == '\'') return quoted_end(begin);
  if (!flow && (c == '|' || c == '>')) return block_scalar_end(begin, indent_of_key);
  if (node.kind == Node::Kind::Null && (begin >= line_end(begin) || space(c))) return begin;
  return plain_end(begin, flow, indent_of_key);
}

std::optional<Container> Layout::container(const Node& node, std::size_t begin) const {
  Container found;
  found.flow = at(begin) == '{' || at(begin) == '[';
  if (found.flow) {
    found.open = begin;
    found.close = bracket_end(begin) - 1;
  }
  if (at(begin) == '*' || at(begin) == '&' || at(begin) == '!' || at(begin) == '?') return std::nullopt;
  for (const auto& [key, value] : node.entries) {
    Slot slot{offset(key.at), 0, 0};
    const auto at_value = value_begin(slot.begin, value, found.flow);
    if (!at_value && !found.flow) return std::nullopt;
    slot.end = at_value ? value_end(value, *at_value, found.flow, indent(slot.begin)) : key_end(slot.begin, true);
    slot.value = at_value.value_or(slot.end);
    found.slots.push_back(slot);
  }
  for (const Node& item : node.items) {
    const bool bare = item.kind == Node::Kind::Map && !item.entries.empty() && at(offset(item.at)) != '{';
    Slot slot{offset(bare ? item.entries[0].first.at : item.at), 0, 0};
    slot.value = slot.begin;
    if (!found.flow) {
      slot.begin = skip_blanks(line_begin(slot.value));
      if (at(slot.begin) != '-' || slot.begin == slot.value) return std::nullopt;
    }
    slot.end = value_end(item, slot.value, found.flow, indent(slot.begin));
    found.slots.push_back(slot);
  }
  for (std::size_t i = 0; i < found.slots.size(); ++i) {
    const Slot& slot = found.slots[i];
    const std::size_t after = i == 0 ? std::min(begin, slot.begin) : found.slots[i - 1].end;
    const bool sound = slot.begin >= after && slot.end >= slot.begin && (!found.flow || slot.end <= found.close);
    if (!sound) return std::nullopt;  // an alias led elsewhere
  }
  return found;
}

std::size_t Layout::entry_begin(const Slot& slot) const {
  std::size_t begin = line_begin(slot.begin);
  while (begin > 0) {
    const std::size_t above = line_begin(begin - 1), first = skip_blanks(above);
    if (at(first) != '#' || indent(first) != indent(slot.begin)) break;
    begin = above;
  }
  return begin;
}

std::size_t Layout::entry_end(const Slot& slot) const {
  std::size_t end = line_end(slot.end);
  while (end < text_.size()) {
    const std::size_t next = text_.find_first_not_of("\r\n", end);
    if (next == std::string_view::npos || line_begin(next) != end + line_break_.size()) break;
    const std::size_t first = skip_blanks(next);
    if (at(first) != '#' || indent(first) <= indent(slot.begin)) break;
    end = line_end(first);
  }
  return end;
}

}  // namespace openreg_gen
