// openreg-gen explain WHAT: a file or line of a tree, an operator, a diagnostic.
#include "cli/cli.h"
#include "cli/explain_view.h"
#include "cli/ops_view.h"
#include "cli/page.h"
#include "diag/codes.h"
#include "diag/suggest.h"
#include "model/template_rows.h"
#include "render/data_dir.h"
#include "render/sha256.h"
#include "spec/keys.h"
#include "spec/minimal_ops.h"
#include "spec/select.h"
#include "spec/validate.h"
#include "tree/disk.h"
#include "tree/find_tree.h"
#include "tree/manifest.h"
#include "tree/paths.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <memory>

namespace openreg_gen {
namespace fs = std::filesystem;
namespace {

struct Options {
  std::string what, folder, torch;
  bool json = false;
};

/// The tree that is asked about, if there is one.
struct Tree {
  fs::path root;
  Manifest manifest;
  Spec spec;
  std::string shown_spec;  // as the user would name it
};

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<Tree> open_tree(const Options& options, const fs::path& near) {
  Tree tree;
  std::error_code error;
  try {
    const fs::path start = !options.folder.empty()   ? fs::path(options.folder)
                           : fs::exists(near, error) ? (fs::is_directory(near) ? near : near.parent_path())
                                                     : fs::path();
    tree.root = find_tree(start);
  } catch (const Failure&) {
    if (!options.folder.empty()) throw;
    return std::nullopt;
  }
  tree.manifest = parse_manifest(read_text(tree.root / kManifest));
  tree.shown_spec = fs::proximate(tree.root / tree.manifest.spec).string();
  Diagnostics ignored;  // a spec with faults still says what it says; `check` tells the faults
  if (auto text = read_spec_file(tree.root / tree.manifest.spec, ignored))
    tree.spec = parse_spec_text(std::move(*text), tree.shown_spec, ignored);
  return tree;
}

Exit explain_code(const Options& options, std::string code) {
  std::ranges::transform(code, code.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const Code* found = find_code(code);
  if (!found) {
    std::vector<std::string_view> codes;
    for (const Code& each : all_codes()) codes.push_back(each.code);
    throw Failure(Exit::BadInput, "E0554", fmt::format("there is no diagnostic '{}'", code), did_you_mean(code, codes));
  }
  if (options.json) {
    fmt::print(
        "{}\n",
        nlohmann::ordered_json{{"code", found->code}, {"title", found->title}, {"text", found->explanation}}.dump());
    return Exit::Done;
  }
  fmt::print("{}: {}\n\n  {}\n", found->code, found->title,
             wrap_words(std::string(found->explanation), 2, terminal_width()));
  return Exit::Done;
}

Catalog catalog_of(const Options& options) {
  return load_catalog(find_torch(options.torch.empty() ? std::nullopt : std::optional<fs::path>(options.torch)));
}

Exit explain_custom(const Options& options, const CustomOpSpec& op, const std::string& name) {
  const std::string place = fmt::format("{}:{}", op.schema.at.file, op.schema.at.line);
  if (options.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"schema", *op.schema}, {"place", place}}.dump());
    return Exit::Done;
  }
  const auto autograd = find_key("custom_ops[].autograd")->values[static_cast<std::size_t>(*op.autograd)];
  Page page(terminal_width());
  page.raw(fmt::format("{}\n\n", *op.schema));
  page.entry("class", "custom: the backend's own, torch.ops." + name);
  page.entry("kernel", op.expr.given() ? "the spec's expression, on the device, the CPU and meta: " + *op.expr
                                       : "yours, in csrc/aten/native");
  page.entry("autograd", op.backward.given() ? fmt::format("{}: {}", autograd, *op.backward) : std::string(autograd));
  page.entry("this tree", place);
  fmt::print("{}", page.take());
  return Exit::Done;
}

Exit explain_operator(const Options& options, const std::optional<Tree>& tree) {
  const std::string& word = options.what;
  if (tree) {
    const std::string& backend = *tree->spec.backend.name;
    const std::string bare = word.starts_with(backend + "::") ? word.substr(backend.size() + 2) : word;
    for (const CustomOpSpec& op : tree->spec.custom_ops) {
      if (op.schema->substr(0, op.schema->find('(')) == bare) return explain_custom(options, op, backend + "." + bare);
    }
  }
  const Catalog catalog = catalog_of(options);
  const Op* op = catalog.find(word);
  if (!op) {
    const auto overloads = catalog.overloads(word);
    if (overloads.size() > 1 && !options.json) {
      fmt::print("'{}' has {} overloads; name one of them:\n\n{}", word, overloads.size(),
                 ops_table(overloads, terminal_width()));
      return Exit::Done;
    }
    if (overloads.size() == 1) op = overloads[0];
  }
  if (!op) {
    Diagnostics diagnostics;
    find_op({word.starts_with("aten::") ? word.substr(6) : word, {}}, catalog, "E0201", "E0202", diagnostics);
    const Diagnostic& first = diagnostics.all().at(0);
    throw Failure(Exit::BadInput, first.code, first.message, first.hint);
  }
  const fs::path file = find_derivatives(catalog.torch_dir());
  const auto derivative = file.empty() ? std::nullopt : find_derivative(read_text(file), *op, catalog);
  std::optional<InSpec> in_spec;
  if (tree) {
    Spec expanded = tree->spec;
    Diagnostics ignored;
    expand_ops(expanded, catalog, ignored);
    in_spec = find_in_spec(*op, expanded);
  }
  if (options.json) {
    fmt::print("{}\n", explain_op_json(*op, catalog, derivative, in_spec).dump(1));
  } else {
    fmt::print("{}", explain_op(*op, catalog, derivative, tree ? tree->shown_spec : "", in_spec, terminal_width()));
  }
  return Exit::Done;
}

struct FileFacts {
  std::string path, file_class, template_name, key, about, state, note, op;
  std::vector<Virtual> virtuals;
  int line = 0;
};

constexpr std::string_view kClassMeaning[] = {
    "generated: openreg-gen's; an edit is refused",
    "shared: rendered, then yours to edit; a new render is merged into it",
    "owned: yours; written once, never again",
};

/// "ops" -> "my.yaml:29", where the spec gives it.
std::string key_place(const Tree& tree, const std::string& key) {
  Diagnostics ignored;
  const auto root = read_document(tree.spec.text, tree.shown_spec, ignored);
  for (const auto& [name, value] : root ? root->entries : std::vector<std::pair<Node, Node>>{}) {
    if (name.text == key) return fmt::format("{}:{}", tree.shown_spec, name.at.line);
  }
  return "not in " + tree.shown_spec;
}

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

Exit explain_spec(const Options& options, const Tree& tree, int line) {
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
  if (options.json) {
    fmt::print("{}\n",
               nlohmann::ordered_json{{"path", tree.shown_spec}, {"keys", keys}, {"about", key ? key->description : ""}}
                   .dump());
    return Exit::Done;
  }
  Page page(terminal_width());
  page.raw(title + "\n\n");
  page.entry("for", "the spec: what this tree is rendered from");
  page.entry("class", std::string(kClassMeaning[2]) + "; `add` and `remove` edit it in place");
  if (!path.empty()) {
    page.entry("key", fmt::format("{}: {}", fmt::join(keys, "."), key->description));
    if (!key->fallback.empty()) page.entry("default", std::string(key->fallback));
  }
  fmt::print("{}", page.take());
  if (keys.size() > 1 && keys[0] == "ops") fmt::print("\n`openreg-gen explain {}` tells about the operator\n", keys[1]);
  return Exit::Done;
}

FileFacts file_facts(const Options& options, const Tree& tree, const std::string& path, int line) {
  FileFacts facts{path, {}, {}, {}, {}, {}, {}, {}, {}, line};
  const std::string text = read_text(tree.root / path);
  const auto at = tree.manifest.files.find(path);
  if (at != tree.manifest.files.end()) {
    const ManifestFile& file = at->second;
    facts.file_class = to_string(file.file_class);
    facts.template_name = file.template_name;
    facts.key = file.key;
    const auto rows = template_rows(find_data().templates);
    if (const TemplateRow* row = find_row(rows, file.template_name, facts.file_class)) facts.about = row->about;
    std::error_code error;
    facts.state = !fs::exists(tree.root / path, error) ? "missing; `openreg-gen generate` writes it again"
                  : sha256(text) == file.sha256        ? "as openreg-gen wrote it"
                                                       : "edited since openreg-gen wrote it";
  }
  facts.note = note_of(text);
  if (facts.note.empty() || !facts.note.starts_with("Note [")) {  // a .cpp's Note is in the header beside it
    const std::string header = path.substr(0, path.rfind('.')) + ".h";
    if (std::string note = note_of(read_text(tree.root / header)); note.starts_with("Note [")) facts.note = note;
  }
  facts.virtuals = virtuals_of(read_text(tree.root / "docs/integration.md"), path);
  std::vector<std::string> ids(minimal_op_names().begin(), minimal_op_names().end());
  for (const OpSpec& op : tree.spec.ops) ids.push_back(*op.name);
  const std::string stem = fs::path(path).stem().string();
  for (const std::string& id : ids) {  // a kernel's file belongs to its operator as a whole
    std::string name = id;
    std::ranges::replace(name, '.', '_');
    if ((name == stem || name + "_kernel" == stem) && path.starts_with("csrc/aten/native/")) facts.op = id;
  }
  if (line > 0 && facts.op.empty()) facts.op = op_of_line(text, line, ids, catalog_of(options));
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

void print_facts(const FileFacts& facts, const Tree& tree) {
  Page page(terminal_width());
  page.raw(facts.path + (facts.line > 0 ? fmt::format(":{}", facts.line) : "") + "\n\n");
  if (facts.file_class.empty()) {
    page.entry("class", "yours: openreg-gen did not write it, and leaves it alone");
  } else {
    FileClass file_class{};
    parse_file_class(facts.file_class, file_class);
    page.entry("for", facts.about);
    page.entry("class", std::string(kClassMeaning[static_cast<std::size_t>(file_class)]));
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
    page.entry("operator", fmt::format("aten::{}; `openreg-gen explain {}` tells about it", facts.op, facts.op));
  const std::string text = facts.line > 0 ? read_text(tree.root / facts.path) : "";
  std::size_t at = 0;
  for (int i = 1; i < facts.line && at != std::string::npos; ++i)
    at = text.find('\n', at), at += at != std::string::npos;
  const std::string line = at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  for (const Virtual& each : facts.virtuals) {
    const std::size_t found = line.find(each.name + "(");
    const bool word =
        found != std::string::npos &&
        (found == 0 || !(std::isalnum(static_cast<unsigned char>(line[found - 1])) || line[found - 1] == '_'));
    if (word) page.entry("answers", fmt::format("{}::{}, {}: {}", each.interface, each.name, each.status, each.note));
  }
  fmt::print("{}", page.take());
  if (facts.note.empty() || facts.line > 0) return;
  std::string note;
  for (const char c : facts.note)
    note += !note.empty() && note.back() == '\n' && c != '\n' ? std::string("  ") + c : std::string(1, c);
  fmt::print("\n  {}", note);
}

Exit explain_path(const Options& options, const Tree& tree, const std::string& path, int line) {
  if (path == tree.manifest.spec) return explain_spec(options, tree, line);
  std::error_code error;
  if (!tree.manifest.files.contains(path) && !fs::exists(tree.root / path, error)) {
    std::vector<std::string_view> paths;
    for (const auto& [each, file] : tree.manifest.files) paths.push_back(each);
    const auto near = closest(path, paths);
    throw Failure(Exit::BadInput, "E0555", fmt::format("'{}' is no file of the tree '{}'", path, tree.root.string()),
                  near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
  const FileFacts facts = file_facts(options, tree, path, line);
  if (options.json) {
    fmt::print("{}\n", facts_json(facts).dump(1));
  } else {
    print_facts(facts, tree);
  }
  return Exit::Done;
}

/// "a.cpp:12" -> "a.cpp", 12.
int split_line(std::string& path) {
  const std::size_t colon = path.rfind(':');
  if (colon == std::string::npos || colon + 1 == path.size() || path.size() - colon > 9) return 0;
  if (!std::all_of(path.begin() + static_cast<std::ptrdiff_t>(colon) + 1, path.end(),
                   [](unsigned char c) { return std::isdigit(c); }))
    return 0;
  const int line = std::stoi(path.substr(colon + 1));
  path.resize(colon);
  return line;
}

Exit run(const Options& options) {
  const std::string& what = options.what;
  const bool code = what.size() == 5 && (what[0] == 'E' || what[0] == 'e') &&
                    std::all_of(what.begin() + 1, what.end(), [](unsigned char c) { return std::isdigit(c); });
  if (code) return explain_code(options, what);
  std::string path = what;
  const int line = split_line(path);
  std::error_code error;
  const auto tree = open_tree(options, path);
  if (tree) {
    const fs::path here = fs::weakly_canonical(path, error).lexically_relative(fs::canonical(tree->root, error));
    const bool inside = !here.empty() && *here.begin() != "..";
    if (inside && (fs::is_regular_file(path, error) || tree->manifest.files.contains(here.generic_string())))
      return explain_path(options, *tree, here.generic_string(), line);
    const std::string plain = fs::path(path).lexically_normal().generic_string();
    if (tree->manifest.files.contains(plain) || plain.find('/') != std::string::npos || line > 0)
      return explain_path(options, *tree, plain, line);
  } else if (what.find('/') != std::string::npos || line > 0) {
    throw Failure(Exit::BadInput, "E0502", "'" + path + "' is in no generated backend",
                  "operators and diagnostics are explained anywhere; for a file, give its tree with -C");
  }
  return explain_operator(options, tree);
}

}  // namespace

void add_explain(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("explain", "Tell about a file or line of a backend, an operator, or a diagnostic");
  auto options = std::make_shared<Options>();
  verb->add_option("WHAT", options->what, "PATH or PATH:LINE in a tree; an operator, add.Tensor; a code, E0203")
      ->required();
  verb->add_option("-C", options->folder,
                   "The tree, or a folder in it; default: the one the file is in, or you stand in")
      ->type_name("DIR");
  verb->add_option("--torch", options->torch, "PyTorch to read the operators from; default: the active environment's")
      ->type_name("DIR");
  verb->add_flag("--json", options->json, "Print one JSON object");
  verb->footer(
      "Examples:\n"
      "  openreg-gen explain csrc/runtime/Guard.cpp\n"
      "  openreg-gen explain csrc/aten/RegisterNative_n.cpp:42\n"
      "  openreg-gen explain add.out\n"
      "  openreg-gen explain E0203");
  verb->callback([options, &session] {
    session.json = options->json;
    session.action = [options] { return run(*options); };
  });
}

}  // namespace openreg_gen
