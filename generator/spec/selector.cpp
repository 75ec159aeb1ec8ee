#include "spec/selector.h"

#include "base/suggest.h"
#include "base/text.h"
#include "spec/rules.h"

#include <fmt/format.h>

#include <utility>

namespace openreg_gen {
namespace {

using Kind = Selector::Kind;

constexpr std::pair<std::string_view, Kind> kSets[] = {
    {"@minimal", Kind::Minimal}, {"@core", Kind::Core}, {"@pointwise", Kind::Pointwise}, {"@amp", Kind::Amp}};
constexpr std::pair<std::string_view, Kind> kOpenSets[] = {{"@tag:", Kind::Tag}, {"@model:", Kind::Model}};

bool is_glob(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

/// Why a glob cannot be used; empty if it can.
std::string glob_fault(std::string_view text) {
  bool open = false;
  for (const char c : text) {
    if (c == '[' && open) return "'[' inside '['";
    if (c == '[' || c == ']') {
      if ((c == ']') != open) return "']' without '['";
      open = !open;
    } else if (!is_word(c) && c != '.' && c != '*' && c != '?' && !(open && (c == '!' || c == '-'))) {
      return fmt::format("'{}' can't be in the name of an operator", c);
    }
  }
  return open ? "'[' without ']'" : text.size() > 120 ? "it is too long" : "";
}

/// Why a list of operators may not be there, since it must be copied into the tree. Empty if it may.
std::string path_fault(const fs::path& path) {
  if (path.empty()) return "a file's name is missing";
  if (path.is_absolute()) return "an absolute path doesn't work on another machine";
  if (std::ranges::find(path, "..") != path.end()) return "the file must lie beside the spec, or below it";
  return {};
}

void set_entry(const Node& node, std::string_view text, RuleContext& context) {
  for (const auto& [prefix, kind] : kOpenSets) {
    if (!text.starts_with(prefix)) continue;
    const std::string rest(text.substr(prefix.size()));
    if (kind == Kind::Model) {
      const auto fault = path_fault(rest);
      const bool control = std::ranges::any_of(rest, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
      if (control) return context.error("E0178", node, "a file's name holds control characters");
      if (!fault.empty())
        context.error("E0178", node, fmt::format("'{}': {}", node.text.substr(0, 120), fault),
                      "such as '@model:model.json', relative to the spec");
    } else if (rest.empty() || rest.size() > 120 || !std::ranges::all_of(rest, is_word)) {
      context.error("E0174", node, fmt::format("'{}' doesn't name a tag", node.text.substr(0, 120)),
                    "such as '@tag:core'");
    }
    return;
  }
  auto names = mapped(kSets, [](const auto& set) { return set.first; });
  if (contains(names, text)) return;
  names.insert(names.end(), {"@tag:NAME", "@model:FILE"});
  context.error("E0175", node, fmt::format("unknown set '{}'", text.substr(0, 120)), did_you_mean(text, names));
}

}  // namespace

Selector parse_selector(std::string_view entry) {
  Selector selector;
  selector.minus = entry.starts_with('-');
  if (selector.minus) entry.remove_prefix(1);
  for (const auto& [name, kind] : kSets)
    if (entry == name) selector.kind = kind;
  if (selector.kind != Kind::Name) return selector;
  for (const auto& [prefix, kind] : kOpenSets) {
    if (!entry.starts_with(prefix)) continue;
    selector.kind = kind;
    entry.remove_prefix(prefix.size());
  }
  selector.text = entry;
  if (selector.kind == Kind::Name && is_glob(entry)) selector.kind = Kind::Glob;
  return selector;
}

namespace rules {

void operator_entry(const Node& node, RuleContext& context) {
  std::string_view text = node.text;
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('@')) return set_entry(node, text, context);
  if (is_glob(text)) {
    if (const auto fault = glob_fault(text); !fault.empty())
      context.error("E0174", node, fmt::format("'{}' is not a glob: {}", text.substr(0, 120), fault),
                    "such as 'add.*' or '*_backward'");
    return;
  }
  Node name = node;
  name.text = text;
  operator_name(name, context);
}

}  // namespace rules
}  // namespace openreg_gen
