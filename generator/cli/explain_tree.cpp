// openreg-gen explain PATH[:LINE]: where a file of a tree comes from, who owns it, and what a line belongs to.
#include "cli/explain.h"

#include "cli/terminal_text.h"
#include "base/suggest.h"
#include "base/text.h"
#include "pipeline/templates.h"
#include "spec/keys.h"
#include "spec/minimal_ops.h"
#include "system/sha256.h"

#include <fmt/ranges.h>

#include <map>
#include <regex>

namespace openreg_gen {
namespace {

/// The text of a comment line; none for other lines.
std::optional<std::string_view> comment(BorrowedText line) {
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

/// What a line may call an operator, and the operator: see op_of_line().
struct Spellings {
  std::map<std::string, std::string> structs, ids, names;
};

/// The operator that the line itself names.
std::string op_in_line(const std::string& line, const Spellings& known, const Catalog& catalog) {
  static const std::regex word(R"((aten::|at::_ops::|"|\b)([A-Za-z_][\w.]*\w|\w)(["(:]?))");
  const auto look_up = [](const auto& map, const std::string& name) {
    const auto found = map.find(name);
    return found == map.end() ? "" : found->second;
  };
  std::string op;
  for (std::sregex_iterator match(line.begin(), line.end(), word), end; op.empty() && match != end; ++match) {
    const std::string before = (*match)[1], name = (*match)[2], after = (*match)[3];
    const std::string stem = name.substr(0, name.rfind('.'));
    const bool file = name.ends_with(".cpp") || name.ends_with(".h");
    if (before == "aten::" && catalog.find(name)) op = name;
    if (before == "at::_ops::") op = look_up(known.structs, name.substr(0, name.find('.')));
    if (before == "\"" && after == "\"") op = look_up(known.names, name);
    if (op.empty() && (file || after == "(" || after == ":")) op = look_up(known.ids, file ? stem : name);
  }
  return op;
}

/// "owned: yours; openreg-gen writes it only once"
std::string class_meaning(FileClass file_class) {
  constexpr const char* kMeanings[] = {"generated: openreg-gen's; edits are refused",
                                       "shared: yours to edit; openreg-gen merges each new render into it",
                                       "owned: yours; openreg-gen writes it only once"};
  return kMeanings[static_cast<std::size_t>(file_class)];
}

/// Its Note may be in the header beside it.
std::string note_of_file(const ExplainedTree& tree, const std::string& path, const std::string& text) {
  std::string note = note_of(text);
  if (note.starts_with("Note [")) return note;
  const std::string beside = note_of(read_if_there(tree.root / (path.substr(0, path.rfind('.')) + ".h")));
  return beside.starts_with("Note [") ? beside : note;
}

Exit explain_file(Question& asked, const std::string& path, int number) {
  const ExplainedTree& tree = *asked.tree;
  const std::string text = read_if_there(tree.root / path);
  const auto found = tree.manifest.files.find(path);
  const ManifestFile file = found == tree.manifest.files.end() ? ManifestFile{} : found->second;
  Page page(page_width());
  page.raw(path + (number > 0 ? fmt::format(":{}", number) : "") + "\n\n");
  nlohmann::ordered_json json{{"path", path}, {"class", ""}, {"template", file.template_name}, {"key", file.key}};
  std::string about, state;
  if (found == tree.manifest.files.end()) {
    page.entry("class", "yours: openreg-gen did not write it and never touches it");
  } else {
    json["class"] = to_string(file.file_class);
    for (const TemplateRow& row : read_templates(find_data()).rows)
      if (about.empty() && row.template_name == file.template_name && row.file_class == file.file_class)
        about = row.about;
    std::error_code error;
    if (!fs::exists(tree.root / path, error))
      state = file.taken() ? "missing, and never written: you took it with `own`"
                           : "missing; `openreg-gen generate` writes it again";
    else
      state = sha256(text) == file.sha256 ? "as openreg-gen wrote it" : "edited since openreg-gen wrote it";
    const Key* key = find_key(file.key);
    const fs::path own = fs::path(*tree.spec.templates) / file.template_name;  // the spec's own come first
    const bool users = !tree.spec.templates->empty() && fs::exists(tree.root / own);
    page.entry("for", about);
    page.entry("class", class_meaning(file.file_class));
    page.entry("spec key", fmt::format("{} ({}){}", file.key, place_of_key(tree, file.key),
                                       key ? ": " + plain_links(asked, std::string(key->description)) : ""));
    page.entry("template", users ? own.generic_string() : (find_data().templates / file.template_name).string());
    page.entry("state", state);
  }
  const auto lines = split_lines(text);
  const auto index = static_cast<std::size_t>(number);
  const std::string_view line = number > 0 && index <= lines.size() ? lines[index - 1] : "";
  std::map<std::string, std::size_t> counts;
  json["virtuals"] = nlohmann::ordered_json::array();
  for (const Virtual& each : virtuals_of(read_if_there(tree.root / "docs/integration.md"), path)) {
    json["virtuals"].push_back(
        {{"interface", each.interface}, {"name", each.name}, {"status", each.status}, {"note", each.note}});
    ++counts[each.interface];
    const std::size_t at = line.find(each.name + "(");
    if (at != std::string::npos && (at == 0 || !is_word(line[at - 1])))
      page.entry("answers", fmt::format("{}::{}, {}: {}", each.interface, each.name, each.status, each.note));
  }
  for (const auto& [interface, count] : counts)
    if (number == 0) page.entry("answers", fmt::format("{} of {}", count, interface));
  // Of an operator's several files, all but the first have a template behind its name.
  std::string op = file.id.starts_with("aten::") ? file.id.substr(6, file.id.find(' ') - 6) : "";
  std::vector<std::string> ids(minimal_op_names().begin(), minimal_op_names().end());
  for (const OpSpec& each : tree.spec.ops) ids.push_back(*each.name);
  if (number > 0 && op.empty()) op = op_of_line(text, number, ids, asked.call.catalog());
  const Catalog* catalog = op.empty() ? nullptr : asked.catalog();
  const Op* declared = catalog ? catalog->find(op) : nullptr;
  const std::string schema = declared ? declared->schema : op;
  std::string signature = file.wanted.empty() ? file.signature : file.wanted;
  if (signature.empty() && declared) signature = declared->signature();
  if (!op.empty()) page.entry("operator", fmt::format("{}; `openreg-gen explain {}` explains it", schema, op));
  page.entry("signature", signature);
  std::string note = note_of_file(tree, path, text);
  json.update({{"about", about},
               {"state", state},
               {"note", note},
               {"line", number},
               {"op", op},
               {"schema", schema},
               {"signature", signature}});
  if (note.empty() || number > 0) return asked.call.answer(json, page.take());
  note.pop_back();
  replace_all(note, "\n", "\n  ");
  replace_all(note, "\n  \n", "\n\n");
  return asked.call.answer(json, page.take() + "\n  " + note + "\n");
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

/// The spec, or the keys around a line of it.
Exit explain_spec(Question& asked, int line) {
  const ExplainedTree& tree = *asked.tree;
  Diagnostics ignored;
  const auto root = read_document(tree.spec.text, tree.shown_spec, ignored);
  const auto keys = root && line > 0 ? keys_at(*root, line) : std::vector<std::string>{};
  std::string path;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool free = i == 1 && keys[0] == "ops";
    const std::string between = path.empty() ? "" : keys[0] == "custom_ops" && i == 1 ? "[]." : ".";
    const std::string next = path + between + (free ? "*" : keys[i]);
    if (!find_key(next)) break;
    path = next;
  }
  Answer answer = answer_of(tree.shown_spec + (line > 0 ? fmt::format(":{}", line) : ""),
                            {{"for", "the spec that this tree is rendered from"},
                             {"class", class_meaning(FileClass::Owned) + "; `add` and `remove` edit it in place"}});
  std::string text = answer.text;
  nlohmann::ordered_json json{{"path", tree.shown_spec}, {"keys", keys}};
  if (!path.empty()) {
    answer = explain_key(asked, path);
    text += "\n" + answer.text;
    json.update(answer.json);
  }
  if (keys.size() > 1 && keys[0] == "ops")
    text += fmt::format("\n`openreg-gen explain {}` explains the operator\n", keys[1]);
  return asked.call.answer(json, text, -1);
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
  Spellings known;
  for (const Op& op : catalog.all()) known.structs[op.ops_struct().substr(10)] = op.name;
  for (const std::string& op : ids) {
    std::string id = op;
    std::ranges::replace(id, '.', '_');
    known.ids[id] = known.names[op] = op;
  }
  for (auto i = static_cast<std::size_t>(line); i-- > 0;) {
    if (std::string op = op_in_line(std::string(lines[i]), known, catalog); !op.empty()) return op;
    const bool ends = lines[i].starts_with("}") || lines[i].starts_with("TORCH_LIBRARY") ||
                      lines[i].starts_with("namespace") || lines[i].starts_with("#");
    if (ends && i + 1 != static_cast<std::size_t>(line)) return {};  // what is above belongs to something else
    if (ends && !lines[i].starts_with("}")) return {};
  }
  return {};
}

std::vector<Virtual> virtuals_of(std::string_view integration, std::string_view path) {
  const std::string header = std::string(path.substr(0, path.rfind('.'))) + ".h";
  static const std::regex interface_line("## `(.*)`"), row("\\| `(.*?)` \\| `(.*?)` \\| (\\w+) \\| (.*?) ?\\|");
  std::vector<Virtual> found;
  std::string interface;
  for (const std::string_view each : split_lines(integration)) {
    const std::string line(each);
    std::smatch match;
    if (std::regex_match(line, match, interface_line)) interface = match[1];
    const bool is_row = std::regex_match(line, match, row);
    if (const std::string file = is_row ? match[2].str() : ""; is_row && (file == path || file == header))
      found.push_back({interface, match[1], match[3], match[4]});
  }
  return found;
}

Exit explain_path(Question& asked, const std::string& path, int line) {
  const ExplainedTree& tree = *asked.tree;
  if (path == tree.manifest.spec) return explain_spec(asked, line);
  std::error_code error;
  if (!tree.manifest.files.contains(path) && !fs::exists(tree.root / path, error)) {
    const auto path_of = [](const auto& entry) -> std::string_view { return entry.first; };
    const auto near = closest(path, mapped(tree.manifest.files, path_of));
    throw Failure(Exit::BadInput, "E0555", fmt::format("'{}' is not a file of the tree '{}'", path, tree.root.string()),
                  near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
  return explain_file(asked, path, line);
}

}  // namespace openreg_gen
