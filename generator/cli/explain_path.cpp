// openreg-gen explain PATH[:LINE]: where a file of a tree comes from, whose it is, and what a line of it is about.
#include "cli/explain.h"
#include "cli/explain_view.h"
#include "cli/page.h"
#include "diag/suggest.h"
#include "diag/text.h"
#include "model/template_rows.h"
#include "render/data_dir.h"
#include "spec/keys.h"
#include "spec/minimal_ops.h"
#include "system/sha256.h"

#include <algorithm>
#include <map>

namespace openreg_gen {
namespace fs = std::filesystem;
namespace {

struct FileFacts {
  std::string path, file_class, template_name, key, about, state, note, op;
  std::vector<Virtual> virtuals;
  int line = 0;
};

/// "ops" -> "my.yaml:29", where the spec gives it.
std::string key_place(const ExplainedTree& tree, const std::string& key) {
  Diagnostics ignored;
  const auto root = read_document(tree.spec.text, tree.shown_spec, ignored);
  for (const auto& [name, value] : root ? root->entries : std::vector<std::pair<Node, Node>>{}) {
    if (name.text == key) return fmt::format("{}:{}", tree.shown_spec, name.at.line);
  }
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
    if (file.id.starts_with("aten::")) facts.op = file.id.substr(6);
    for (const TemplateRow& row : template_rows(find_data().templates)) {
      if (row.template_name == file.template_name && row.file_class == file.file_class) facts.about = row.about;
    }
    std::error_code error;
    facts.state = !fs::exists(tree.root / path, error) ? "missing; `openreg-gen generate` writes it again"
                  : sha256(text) == file.sha256        ? "as openreg-gen wrote it"
                                                       : "edited since openreg-gen wrote it";
  }
  facts.note = note_of(text);
  if (facts.note.empty() || !facts.note.starts_with("Note [")) {  // a .cpp's Note is in the header beside it
    const std::string header = path.substr(0, path.rfind('.')) + ".h";
    if (std::string note = note_of(read_if_there(tree.root / header)); note.starts_with("Note [")) facts.note = note;
  }
  facts.virtuals = virtuals_of(read_if_there(tree.root / "docs/integration.md"), path);
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

void print_facts(const FileFacts& facts, const ExplainedTree& tree) {
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
  print_text(page.take());
  if (facts.note.empty() || facts.line > 0) return;
  std::string note;
  for (const char c : facts.note)
    note += !note.empty() && note.back() == '\n' && c != '\n' ? std::string("  ") + c : std::string(1, c);
  fmt::print("\n  {}", note);
}

}  // namespace

std::string class_meaning(FileClass file_class) {
  switch (file_class) {
    case FileClass::Generated:
      return "generated: openreg-gen's; an edit is refused";
    case FileClass::Shared:
      return "shared: rendered, then yours to edit; a new render is merged into it";
    case FileClass::Owned:
      return "owned: yours; written once, never again";
  }
  return {};
}

Exit explain_path(Invocation& call, const ExplainedTree& tree, const std::string& path, int line) {
  if (path == tree.manifest.spec) return explain_spec(call, tree, line);
  std::error_code error;
  if (!tree.manifest.files.contains(path) && !fs::exists(tree.root / path, error)) {
    std::vector<std::string_view> paths;
    for (const auto& [each, file] : tree.manifest.files) paths.push_back(each);
    const auto near = closest(path, paths);
    throw Failure(Exit::BadInput, "E0555", fmt::format("'{}' is no file of the tree '{}'", path, tree.root.string()),
                  near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
  const FileFacts facts = file_facts(call, tree, path, line);
  if (call.json) {
    print_json(facts_json(facts), 1);
  } else {
    print_facts(facts, tree);
  }
  return Exit::Done;
}

}  // namespace openreg_gen
