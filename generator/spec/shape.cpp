#include "spec/read_keys.h"

#include "base/suggest.h"
#include "base/text.h"
#include "releases/releases.h"
#include "spec/rules.h"
#include "spec/selector.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>

namespace openreg_gen {
namespace {

std::string_view wanted(const Key& key) {
  constexpr std::string_view kWanted[] = {"a map",      "a list",   "a map or a list", "text",  "a word",
                                          "an integer", "a number", "true or false",   "a size"};
  if (const Key* lone = shorthand_of(key))
    return lone->type == KeyType::Boolean ? "true, false or a map" : "a word or a map";
  return kWanted[static_cast<std::size_t>(key.type)];
}

class Shape {
 public:
  Shape(const Vocabulary& vocabulary, Diagnostics& diagnostics) : vocabulary_(vocabulary), diagnostics_(diagnostics) {}

  std::optional<Node> check(const Node& node, const Key& key) {
    if (node.kind == Node::Kind::Null) {
      const bool container = key.type == KeyType::Map || key.type == KeyType::List || key.type == KeyType::Table;
      if (container && !key.path.ends_with("[]"))
        return Node{.kind = key.type == KeyType::List ? Node::Kind::List : Node::Kind::Map, .at = node.at};
      return diagnostics_.fail("E0115", node.at, fmt::format("{} has no value", label(key)),
                               fmt::format("expected {}", wanted(key)));
    }
    using Check = std::optional<Node> (Shape::*)(const Node&, const Key&);
    constexpr Check kChecks[] = {&Shape::map,     &Shape::list,   &Shape::table,   &Shape::text, &Shape::word,
                                 &Shape::integer, &Shape::number, &Shape::boolean, &Shape::size};
    return (this->*kChecks[static_cast<std::size_t>(key.type)])(node, key);
  }

 private:
  std::string label(const Key& key) const {
    if (!lone_.empty()) return lone_;
    if (key.path.empty()) return "the spec";
    const bool item = key.path.ends_with(".*") || key.path.ends_with("[]");
    return fmt::format("{}'{}'", item ? "an item of " : "",
                       last_part(key.path.substr(0, key.path.size() - (item ? 2 : 0))));
  }

  std::nullopt_t wrong_type(const Node& node, const Key& key, std::string hint = {}) {
    const std::string found = node.is_scalar() && !node.text.empty() ? fmt::format(" '{}'", shown(node.text)) : "";
    return diagnostics_.fail(
        "E0115", node.at, fmt::format("{} must be {}, not {}{}", label(key), wanted(key), describe(node.kind), found),
        std::move(hint));
  }

  std::nullopt_t out_of_range(const Node& node, const Key& key, std::string_view found) {
    return diagnostics_.fail("E0117", node.at,
                             fmt::format("{} is {}, not in {}..{}", label(key), found, key.min, key.max));
  }

  bool repeated(const Node& name, std::set<std::string>& seen, std::string_view code, std::string_view what) {
    if (seen.insert(name.text).second) return false;
    diagnostics_.error(std::string(code), name.at, fmt::format("{} '{}' is given twice", what, shown(name.text)),
                       "keep one");
    return true;
  }

  /// What to type: a colon without its space, a line that lacks its indentation, or another name.
  static std::string unknown_key(const Node& map, const Node& name, const std::vector<std::string_view>& names,
                                 const std::vector<const Key*>& keys) {
    if (name.text == "<<") return "merge keys are not used in specs";
    const std::string_view text = name.text;
    const std::string_view word = text.substr(0, text.find_first_of(" :{["));
    if (word.size() < text.size() && contains(names, word))
      return fmt::format("a colon and a space come after a key: `{}: ...`", word);
    for (std::size_t i = 1; i < map.entries.size(); ++i) {
      const auto& [before, value] = map.entries[i - 1];
      if (&map.entries[i].first != &name || value.kind != Node::Kind::Null) continue;
      const auto above = std::ranges::find(names, std::string_view(before.text));
      if (above == names.end()) continue;
      for (const Key* below : child_keys(keys[static_cast<std::size_t>(above - names.begin())]->path))
        if (last_part(below->path) == text) return fmt::format("as a part of '{}' it is indented more", before.text);
    }
    return did_you_mean(text, names);
  }

  /// `relu:native` or `-relu`, which YAML reads as a text.
  static std::string forgotten_space(const Node& node) {
    const std::string_view text = node.text;
    if (node.kind != Node::Kind::String) return {};
    if (text.starts_with('-')) return "a space comes after the dash: `- " + std::string(text.substr(1, 40)) + "`";
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return {};
    return fmt::format("a space comes after the colon: `{}: {}`", text.substr(0, colon), shown(text.substr(colon + 1)));
  }

  std::optional<Node> map(const Node& node, const Key& key) {
    if (node.is_scalar() && !key.shorthand.empty()) return lone_word(node, key);
    if (node.kind != Node::Kind::Map) return wrong_type(node, key, forgotten_space(node));
    const auto children = child_keys(key.path);
    const auto names = mapped(children, [](const Key* child) { return last_part(child->path); });
    Node result{.kind = Node::Kind::Map, .at = node.at};
    std::set<std::string> seen;
    for (const auto& [name, value] : node.entries) {
      const auto found = std::ranges::find(names, std::string_view(name.text));
      if (found == names.end()) {
        std::string hint = unknown_key(node, name, names, children);
        const std::string where = key.path.empty() ? "" : fmt::format(" in {}", label(key));
        diagnostics_.error("E0112", name.at, fmt::format("unknown key '{}'{}", shown(name.text), where),
                           std::move(hint));
        continue;
      }
      if (repeated(name, seen, "E0113", "the key")) continue;
      const Key& child = *children[static_cast<std::size_t>(found - names.begin())];
      if (auto checked = check(value, child)) result.entries.emplace_back(name, std::move(*checked));
    }
    for (const Key* child : children) {
      if (!child->required || seen.contains(std::string(last_part(child->path)))) continue;
      diagnostics_.error("E0114", node.at,
                         fmt::format("the key '{}' is missing{}", last_part(child->path),
                                     key.path.empty() ? "" : fmt::format(" in {}", label(key))),
                         fmt::format("such as `{}: {}`", last_part(child->path),
                                     child->example.empty() ? "{name: mydevice}" : child->example));
    }
    return result;
  }

  std::optional<Node> lone_word(const Node& node, const Key& key) {
    const std::string whole = label(key);
    lone_ = key.path.ends_with(".*") ? fmt::format("'{}' of '{}'", key.shorthand, shown(row_)) : whole;
    auto checked = check(node, *shorthand_of(key));
    lone_.clear();
    if (!checked) return std::nullopt;
    Node name{.kind = Node::Kind::String, .text = std::string(key.shorthand), .at = node.at};
    return Node{.kind = Node::Kind::Map, .at = node.at, .entries = {{std::move(name), std::move(*checked)}}};
  }

  std::optional<Node> list(const Node& node, const Key& key) {
    if (node.kind != Node::Kind::List)
      return wrong_type(node, key, node.is_scalar() ? fmt::format("write [{}]", shown(node.text)) : "");
    const Key& item_key = *find_key(key.path, "[]");
    if (node.items.empty() && key.path.ends_with("dtypes"))
      diagnostics_.error("E0158", node.at, fmt::format("{} is empty", label(key)), "leave it out for its default");
    Node result{.kind = Node::Kind::List, .at = node.at};
    std::set<std::string> seen;
    for (const Node& item : node.items) {
      auto checked = check(item, item_key);
      if (!checked) continue;
      if (checked->is_scalar() && repeated(*checked, seen, "E0119", "the item")) continue;
      result.items.push_back(std::move(*checked));
    }
    return result;
  }

  /// The releases of PyTorch that an operator's entry is for: one operator may have several that do not meet.
  struct Releases {
    std::optional<TorchRelease> since, until;
    explicit Releases(const Node& entry) : since(bound(entry, "since")), until(bound(entry, "until")) {}
    static std::optional<TorchRelease> bound(const Node& entry, std::string_view key) {
      const Node* node = entry.find(key);
      return node == nullptr ? std::nullopt : torch_release(node->text);
    }
    bool meets(const Releases& other) const { return !before(other) && !other.before(*this); }
    bool before(const Releases& other) const { return until && other.since && *until < *other.since; }
  };
  struct NameUses {
    bool again = false;  // whether a name may come again: in lists, as keys of a map are unique
    std::map<std::string, std::vector<Releases>> releases;
  };

  /// A map from name to value, or a list of names and of such maps; becomes a map.
  std::optional<Node> table(const Node& node, const Key& key) {
    Node result{.kind = Node::Kind::Map, .at = node.at};
    NameUses seen{node.kind == Node::Kind::List, {}};
    if (node.kind == Node::Kind::Map) {
      for (const auto& [name, value] : node.entries) row(name, value, key, seen, result);
      return result;
    }
    if (node.kind != Node::Kind::List) return wrong_type(node, key, forgotten_space(node));
    for (const Node& item : node.items) {
      if (item.kind == Node::Kind::String) {
        row(item, {.at = item.at}, key, seen, result);
      } else if (item.kind == Node::Kind::Map && item.find("name") != nullptr) {
        Node rest = item;
        std::erase_if(rest.entries, [](const auto& entry) { return entry.first.text == "name"; });
        const Node& name = *item.find("name");
        if (name.kind == Node::Kind::String)
          row(name, rest, key, seen, result);
        else
          wrong_type(name, *find_key("backend.name"));
      } else if (item.kind == Node::Kind::Map) {
        for (const auto& [name, value] : item.entries) row(name, value, key, seen, result);
      } else {
        diagnostics_.error("E0115", item.at,
                           fmt::format("an item of '{}' must be an operator or a map, not {}", last_part(key.path),
                                       describe(item.kind)));
      }
    }
    return result;
  }

  void row(const Node& name, const Node& value, const Key& key, NameUses& seen, Node& result) {
    RuleContext context{key.path, diagnostics_};
    const auto before = diagnostics_.all().size();
    rules::operator_entry(name, context);
    if (diagnostics_.all().size() != before) return;
    row_ = name.text;
    auto checked = check(value, *find_key(key.path, ".*"));
    auto& earlier = seen.releases[name.text];
    const Releases releases(checked ? *checked : Node{});
    if (std::ranges::any_of(earlier, [&](const Releases& other) { return !seen.again || releases.meets(other); })) {
      diagnostics_.error("E0151", name.at, fmt::format("the operator '{}' is given twice", shown(name.text)),
                         "keep one, or write `ops` as a list and give each its releases: `until: \"2.13\"`, "
                         "`since: \"2.14\"`");
    } else if (checked) {
      result.entries.emplace_back(name, std::move(*checked));
    }
    earlier.push_back(releases);
  }

  std::optional<Node> text(const Node& node, const Key& key) {
    if (node.kind != Node::Kind::String)
      return wrong_type(node, key, node.is_scalar() ? fmt::format("write \"{}\", in quotes", shown(node.text)) : "");
    RuleContext context{key.path, diagnostics_};
    const auto before = diagnostics_.all().size();
    if (key.rule) key.rule(node, context);
    // A refused line still counts, so that it isn't also reported as missing.
    return diagnostics_.all().size() == before || key.rule == rules::line ? std::optional(node) : std::nullopt;
  }

  std::optional<Node> word(const Node& node, const Key& key) {
    const auto words = words_of(key, vocabulary_);
    if (!node.is_scalar()) return wrong_type(node, key);
    if (node.kind != Node::Kind::String) return wrong_type(node, key, one_of(node.text, words));
    if (contains(words, node.text)) return node;
    return diagnostics_.fail("E0116", node.at, fmt::format("{} can't be '{}'", label(key), shown(node.text)),
                             one_of(node.text, words));
  }

  std::optional<Node> integer(const Node& node, const Key& key) {
    if (node.kind != Node::Kind::Integer) return wrong_type(node, key);
    std::int64_t value = 0;
    const auto* end = node.text.data() + node.text.size();
    const auto parsed = std::from_chars(node.text.data(), end, value);
    const bool read = parsed.ec == std::errc() && parsed.ptr == end;
    if (read && value >= key.min && value <= key.max) return node;
    if (key.path == "spec_version")
      return diagnostics_.fail("E0118", node.at, fmt::format("unknown spec_version {}", shown(node.text)),
                               "this openreg-gen reads version 1");
    return out_of_range(node, key, shown(node.text));
  }

  std::optional<Node> number(const Node& node, const Key& key) {
    if (node.kind != Node::Kind::Integer && node.kind != Node::Kind::Number) return wrong_type(node, key);
    const auto value = parse_number(node.text);
    if (value && *value >= static_cast<double>(key.min) && *value <= static_cast<double>(key.max)) return node;
    return out_of_range(node, key, shown(node.text));
  }

  std::optional<Node> boolean(const Node& node, const Key& key) {
    if (node.kind == Node::Kind::Boolean) return node;
    constexpr std::string_view kYes[] = {"yes", "on", "1"}, kNo[] = {"no", "off", "0"};
    return wrong_type(node, key,
                      contains(kYes, node.text)  ? "write true"
                      : contains(kNo, node.text) ? "write false"
                                                 : "");
  }

  std::optional<Node> size(const Node& node, const Key& key) {
    if (node.kind != Node::Kind::Integer && node.kind != Node::Kind::String)
      return wrong_type(node, key, "such as 1GiB");
    const auto bytes = parse_size(node.text);
    if (!bytes)
      return diagnostics_.fail("E0140", node.at, fmt::format("{} '{}' is not a size", label(key), shown(node.text)),
                               "bytes, or a whole number with KiB, MiB, GiB, TiB, KB, MB, GB or TB: such as 1GiB");
    if (*bytes >= static_cast<std::uint64_t>(key.min) && *bytes <= static_cast<std::uint64_t>(key.max)) return node;
    return out_of_range(node, key, fmt::format("{} bytes", *bytes));
  }

  const Vocabulary& vocabulary_;
  Diagnostics& diagnostics_;
  std::string row_;   // the operator whose entry is checked
  std::string lone_;  // what a word stands for that is given in the place of a map: it has no key of its own
};

}  // namespace

Node check_shape(const Node& root, const Vocabulary& vocabulary, Diagnostics& diagnostics) {
  return Shape(vocabulary, diagnostics).check(root, *find_key("")).value_or(Node{});
}

}  // namespace openreg_gen
