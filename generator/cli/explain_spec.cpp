// openreg-gen explain SPEC[:LINE]: the keys of the spec around a line.
#include "cli/explain.h"
#include "cli/page.h"
#include "spec/keys.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

/// The keys around a line of the spec, outermost first: "ops", "relu".
std::vector<std::string> keys_at(const Node& node, int line) {
  const Node *value = nullptr, *key = nullptr;
  for (const auto& entry : node.entries) {
    if (entry.first.at.line <= line) key = &entry.first, value = &entry.second;
  }
  if (!key) {
    for (const Node& item : node.items) {
      if (item.at.line <= line) value = &item;
    }
    return value ? keys_at(*value, line) : std::vector<std::string>{};
  }
  std::vector<std::string> keys{key->text};
  for (std::string& inner : keys_at(*value, line)) keys.push_back(std::move(inner));
  return keys;
}

}  // namespace

Exit explain_spec(const Invocation& call, const ExplainedTree& tree, int line) {
  Diagnostics ignored;
  const auto root = read_document(tree.spec.text, tree.shown_spec, ignored);
  const auto keys = root && line > 0 ? keys_at(*root, line) : std::vector<std::string>{};
  std::string path;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool free = i == 1 && keys[0] == "ops";
    const std::string next = path +
                             (path.empty()                        ? ""
                              : keys[0] == "custom_ops" && i == 1 ? "[]."
                                                                  : ".") +
                             (free ? "*" : keys[i]);
    if (!find_key(next)) break;
    path = next;
  }
  const Key* key = find_key(path);
  const std::string title = line > 0 ? fmt::format("{}:{}", tree.shown_spec, line) : tree.shown_spec;
  if (call.json) {
    print_json(
        nlohmann::ordered_json{{"path", tree.shown_spec}, {"keys", keys}, {"about", key ? key->description : ""}});
    return Exit::Done;
  }
  Page page(terminal_width());
  page.raw(title + "\n\n");
  page.entry("for", "the spec: what this tree is rendered from");
  page.entry("class", class_meaning(FileClass::Owned) + "; `add` and `remove` edit it in place");
  if (!path.empty()) {
    page.entry("key", fmt::format("{}: {}", fmt::join(keys, "."), key->description));
    if (!default_text(*key).empty()) page.entry("default", std::string(default_text(*key)));
  }
  print_text(page.take());
  if (keys.size() > 1 && keys[0] == "ops") fmt::print("\n`openreg-gen explain {}` explains the operator\n", keys[1]);
  return Exit::Done;
}

}  // namespace openreg_gen
