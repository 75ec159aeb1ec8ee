// openreg-gen explain PATH[:LINE]: where a file of a tree comes from, whose it is, and what a line of it is about.
#include "cli/explain.h"

#include "cli/terminal_text.h"
#include "base/suggest.h"
#include "base/text.h"
#include "model/template_rows.h"
#include "render/data_dir.h"
#include "spec/keys.h"
#include "spec/minimal_ops.h"
#include "system/sha256.h"

#include <fmt/ranges.h>

#include <map>

namespace openreg_gen {
namespace {

/// The text of a comment line; none if it is no comment.
std::optional<std::string_view> comment(std::string_view line) {
  for (const std::string_view mark : {"///", "//", "#"}) {
    if (!line.starts_with(mark) || line.starts_with("#pragma") || line.starts_with("#include")) continue;
    line.remove_prefix(mark.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }
  return std::nullopt;
}

std::string comment_from(const std::vector<std::string_view>& lines, std::size_t first) {
  std::string out;
  for (std::size_t i = first; i < lines.size(); ++i) {
    const auto text = comment(lines[i]);
    if (!text) break;
    out += std::string(*text) + "\n";
  }
  return out;
}

bool name_char(char c) { return is_word(c) || c == '.'; }

std::string_view name_after(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return {};
  std::size_t end = at + mark.size();
  while (end < line.size() && name_char(line[end])) ++end;
  std::string_view name = line.substr(at + mark.size(), end - at - mark.size());
  while (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

class LineIndex {
 public:
  LineIndex(const std::vector<std::string>& ids, const Catalog& catalog) : catalog_(catalog) {
    for (const std::string& op : ids) {
      std::string id = op;
      std::ranges::replace(id, '.', '_');
      ids_[id] = op;
      names_[op] = op;
    }
  }

  std::string find(std::string_view line) {
    if (const Op* op = catalog_.find(name_after(line, "aten::"))) return op->name;
    if (const auto name = name_after(line, "at::_ops::"); !name.empty()) {
      if (structs_.empty()) {
        for (const Op& op : catalog_.all()) structs_[op.ops_struct().substr(10)] = &op;
      }
      const std::string symbol(name.substr(0, name.find('.')));
      if (const auto found = structs_.find(symbol); found != structs_.end()) return found->second->name;
    }
    for (std::size_t at = 0; at < line.size();) {  // words, and words in quotes
      if (!name_char(line[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < line.size() && name_char(line[end])) ++end;
      const std::string word(line.substr(at, end - at));
      const char before = at > 0 ? line[at - 1] : ' ', after = end < line.size() ? line[end] : ' ';
      if (before == '"' && after == '"' && names_.contains(word)) return word;
      const std::string stem = word.substr(0, word.rfind('.'));
      const bool file = word.ends_with(".cpp") || word.ends_with(".h");
      if (const auto found = ids_.find(file ? stem : word);
          found != ids_.end() && (file || after == '(' || after == ':'))
        return found->second;
      at = end;
    }
    return {};
  }

 private:
  const Catalog& catalog_;
  std::map<std::string, std::string> ids_, names_;
  std::map<std::string, const Op*> structs_;
};

struct FileFacts {
  std::string path, file_class, template_name, key, about, state, note, op;
  std::vector<Virtual> virtuals;
  int line = 0;
};

/// "ops" -> "my.yaml:29", where the spec gives it.
std::string key_place(const ExplainedTree& tree, const std::string& key) {
  Diagnostics ignored;
  const auto root = read_document(tree.spec.text, tree.shown_spec, ignored);
  for (const auto& [name, value] : root ? root->entries : std::vector<std::pair<Node, Node>>{})
    if (name.text == key) return fmt::format("{}:{}", tree.shown_spec, name.at.line);
  return "not in " + tree.shown_spec;
}

FileFacts file_facts(Invocation& call, const ExplainedTree& tree, const std::string& path, int line) {
  FileFacts facts{path, {}, {}, {}, {}, {}, {}, {}, {}, line};
  const std::string text = read_if_there(tree.root / path);
  const auto at = tree.manifest.files.find(path);
  if (at != tree.manifest.files.end()) {
    const ManifestFile& file = at->second;
    facts.file_class = to_string(file.file_class);
    facts.template_name = file.template_name;
    facts.key = file.key;
    // Of an operator's several files, all but the first have a template behind its name.
    if (file.id.starts_with("aten::")) facts.op = file.id.substr(6, file.id.find(' ') - 6);
    for (const TemplateRow& row : template_rows(find_data().templates))
      if (row.template_name == file.template_name && row.file_class == file.file_class) facts.about = row.about;
    std::error_code error;
    facts.state = !fs::exists(tree.root / path, error) ? file.taken()
                                                             ? "not there, and never written: it is yours by `own`"
                                                             : "missing; `openreg-gen generate` writes it again"
                  : sha256(text) == file.sha256        ? "as openreg-gen wrote it"
                                                       : "edited since openreg-gen wrote it";
  }
  facts.note = note_of(text);
  if (facts.note.empty() || !facts.note.starts_with("Note [")) {  // a .cpp's Note is in the header beside it
    const std::string header = path.substr(0, path.rfind('.')) + ".h";
    if (std::string note = note_of(read_if_there(tree.root / header)); note.starts_with("Note [")) facts.note = note;
  }
  facts.virtuals = virtuals_of(read_if_there(tree.root / "docs/integration.json"), path);
  std::vector<std::string> ids(minimal_op_names().begin(), minimal_op_names().end());
  for (const OpSpec& op : tree.spec.ops) ids.push_back(*op.name);
  if (line > 0 && facts.op.empty()) facts.op = op_of_line(text, line, ids, call.catalog());
  return facts;
}

nlohmann::ordered_json facts_json(const FileFacts& facts) {
  nlohmann::ordered_json json{{"path", facts.path}, {"class", facts.file_class}, {"template", facts.template_name},
                              {"key", facts.key},   {"about", facts.about},      {"state", facts.state},
                              {"note", facts.note}, {"line", facts.line},        {"op", facts.op}};
  json["virtuals"] = nlohmann::ordered_json::array();
  for (const Virtual& each : facts.virtuals)
    json["virtuals"].push_back(
        {{"interface", each.interface}, {"name", each.name}, {"status", each.status}, {"note", each.note}});
  return json;
}

std::string facts_text(const FileFacts& facts, const ExplainedTree& tree) {
  Page page(terminal_width());
  page.raw(facts.path + (facts.line > 0 ? fmt::format(":{}", facts.line) : "") + "\n\n");
  if (facts.file_class.empty()) {
    page.entry("class", "yours: openreg-gen did not write it, and leaves it alone");
  } else {
    FileClass file_class{};
    parse_file_class(facts.file_class, file_class);
    page.entry("for", facts.about);
    page.entry("class", class_meaning(file_class));
    const Key* key = find_key(facts.key);
    page.entry("spec key", fmt::format("{} ({}){}", facts.key, key_place(tree, facts.key),
                                       key ? ": " + std::string(key->description) : ""));
    const fs::path own = fs::path(*tree.spec.templates) / facts.template_name;  // the spec's own come first
    const bool users = !tree.spec.templates->empty() && fs::exists(tree.root / own);
    page.entry("template", users ? own.generic_string() : "templates/" + facts.template_name);
    page.entry("state", facts.state);
  }
  if (!facts.virtuals.empty() && facts.line == 0) {
    std::map<std::string, std::size_t> counts;
    for (const Virtual& each : facts.virtuals) ++counts[each.interface];
    std::vector<std::string> lines;
    for (const auto& [interface, count] : counts) lines.push_back(fmt::format("{} of {}", count, interface));
    page.entries("answers", lines);
  }
  if (!facts.op.empty())
    page.entry("operator", fmt::format("aten::{}; `openreg-gen explain {}` explains it", facts.op, facts.op));
  const std::string text = facts.line > 0 ? read_if_there(tree.root / facts.path) : "";
  const auto lines = split_lines(text);
  const auto number = static_cast<std::size_t>(facts.line);
  const std::string_view line = number > 0 && number <= lines.size() ? lines[number - 1] : "";
  for (const Virtual& each : facts.virtuals) {
    const std::size_t found = line.find(each.name + "(");
    const bool word = found != std::string::npos && (found == 0 || !is_word(line[found - 1]));
    if (word) page.entry("answers", fmt::format("{}::{}, {}: {}", each.interface, each.name, each.status, each.note));
  }
  std::string out = page.take();
  if (facts.note.empty() || facts.line > 0) return out;
  out += "\n  ";
  for (const char c : facts.note) {
    const bool begins = out.back() == '\n' && c != '\n';
    out += begins ? std::string("  ") + c : std::string(1, c);
  }
  return out;
}

/// The keys around a line of the spec, outermost first: "ops", "relu".
std::vector<std::string> keys_at(const Node& node, int line) {
  const Node *value = nullptr, *key = nullptr;
  for (const auto& entry : node.entries)
    if (entry.first.at.line <= line) key = &entry.first, value = &entry.second;
  if (!key) {
    for (const Node& item : node.items)
      if (item.at.line <= line) value = &item;
    return value ? keys_at(*value, line) : std::vector<std::string>{};
  }
  std::vector<std::string> keys{key->text};
  for (std::string& inner : keys_at(*value, line)) keys.push_back(std::move(inner));
  return keys;
}

}  // namespace

std::string note_of(std::string_view text) {
  const auto lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = comment(lines[i]);
    if (line && line->starts_with("Note [")) return comment_from(lines, i);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("\"\"\"")) continue;
    std::string out(lines[i].substr(3));
    while (!includes(out, "\"\"\"") && ++i < lines.size()) out += "\n" + std::string(lines[i]);
    return out.substr(0, out.find("\"\"\"")) + "\n";
  }
  std::size_t first = 0;
  while (first < lines.size() && comment(lines[first])) ++first;  // the header
  for (std::size_t i = first; i < lines.size(); ++i) {
    const bool begins = comment(lines[i]) && (i == 0 || lines[i - 1].empty());
    if (begins) return comment_from(lines, i);
    if (contains(lines[i], '{')) break;
  }
  return {};
}

std::string op_of_line(std::string_view text, int line, const std::vector<std::string>& ids, const Catalog& catalog) {
  const auto lines = split_lines(text);
  if (line < 1 || line > static_cast<int>(lines.size())) return {};
  LineIndex index(ids, catalog);
  for (auto i = static_cast<std::size_t>(line); i-- > 0;) {
    if (std::string op = index.find(lines[i]); !op.empty()) return op;
    const bool ends = lines[i].starts_with("}") || lines[i].starts_with("TORCH_LIBRARY") ||
                      lines[i].starts_with("namespace") || lines[i].starts_with("#");
    if (ends && i + 1 != static_cast<std::size_t>(line)) return {};  // what is above belongs to something else
    if (ends && !lines[i].starts_with("}")) return {};
  }
  return {};
}

std::vector<Virtual> virtuals_of(std::string_view integration, std::string_view path) {
  const std::string header = std::string(path.substr(0, path.rfind('.'))) + ".h";
  std::vector<Virtual> found;
  const auto interfaces = nlohmann::json::parse(integration, nullptr, /*allow_exceptions=*/false);
  if (!interfaces.is_array()) return found;  // a tree of an earlier version has none
  try {
    for (const auto& interface : interfaces) {
      for (const auto& each : interface.at("virtuals")) {
        if (const auto& file = each.at("file"); file == path || file == header)
          found.push_back({interface.at("name"), each.at("name"), each.at("status"), each.at("note")});
      }
    }
  } catch (const nlohmann::json::exception&) {
    found.clear();  // edited; `check` says so
  }
  return found;
}

std::string class_meaning(FileClass file_class) {
  constexpr const char* kMeanings[] = {"generated: openreg-gen's; an edit is refused",
                                       "shared: rendered, then yours to edit; a new render is merged into it",
                                       "owned: yours; written once, never again"};
  return kMeanings[static_cast<std::size_t>(file_class)];
}

Exit explain_path(Invocation& call, const ExplainedTree& tree, const std::string& path, int line) {
  if (path == tree.manifest.spec) return explain_spec(call, tree, line);
  std::error_code error;
  if (!tree.manifest.files.contains(path) && !fs::exists(tree.root / path, error)) {
    const auto path_of = [](const auto& entry) -> std::string_view { return entry.first; };
    const auto near = closest(path, mapped(tree.manifest.files, path_of));
    throw Failure(Exit::BadInput, "E0555", fmt::format("'{}' is no file of the tree '{}'", path, tree.root.string()),
                  near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
  const FileFacts facts = file_facts(call, tree, path, line);
  return call.answer(facts_json(facts), facts_text(facts, tree));
}

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
  Page page(terminal_width());
  page.raw(tree.shown_spec + (line > 0 ? fmt::format(":{}", line) : "") + "\n\n");
  page.entry("for", "the spec: what this tree is rendered from");
  page.entry("class", class_meaning(FileClass::Owned) + "; `add` and `remove` edit it in place");
  if (!path.empty()) {
    page.entry("key", fmt::format("{}: {}", fmt::join(keys, "."), key->description));
    if (!default_text(*key).empty()) page.entry("default", std::string(default_text(*key)));
  }
  if (keys.size() > 1 && keys[0] == "ops")
    page.raw(fmt::format("\n`openreg-gen explain {}` explains the operator\n", keys[1]));
  const nlohmann::ordered_json json{{"path", tree.shown_spec}, {"keys", keys}, {"about", key ? key->description : ""}};
  return call.answer(json, page.take(), -1);
}

}  // namespace openreg_gen
