// openreg-gen explain WHAT: a file or line of a tree, an operator, a diagnostic.
#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/explain_view.h"
#include "cli/ops_view.h"
#include "cli/page.h"
#include "diag/codes.h"
#include "diag/suggest.h"
#include "diag/text.h"
#include "render/data_dir.h"
#include "spec/keys.h"
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

std::optional<ExplainedTree> open_tree(const ExplainOptions& options, const fs::path& near) {
  ExplainedTree tree;
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
  tree.manifest = parse_manifest(read_if_there(tree.root / kManifest));
  tree.shown_spec = fs::proximate(tree.root / tree.manifest.spec).string();
  Diagnostics ignored;  // a spec with faults still says what it says; `check` tells the faults
  if (auto text = read_spec_file(tree.root / tree.manifest.spec, ignored))
    tree.spec = parse_spec_text(std::move(*text), tree.shown_spec, ignored);
  return tree;
}

Exit explain_code(const ExplainOptions& options, const std::string& given) {
  const std::string code = upper_case(given);
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

Exit explain_custom(const ExplainOptions& options, const CustomOpSpec& op, const std::string& name) {
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

Exit explain_operator(const ExplainOptions& options, const std::optional<ExplainedTree>& tree) {
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
  const auto derivative = file.empty() ? std::nullopt : find_derivative(read_if_there(file), *op, catalog);
  std::optional<InSpec> in_spec;
  if (tree) {
    Spec expanded = tree->spec;
    Diagnostics ignored;
    expand_ops(expanded, catalog, ignored);
    in_spec = find_in_spec(*op, expanded);
  }
  const Traced traced = find_traced(*op, catalog, read_decompositions(find_data().specs / "decompositions.json"));
  if (options.json) {
    fmt::print("{}\n", explain_op_json(*op, catalog, derivative, traced, in_spec).dump(1));
  } else {
    fmt::print("{}",
               explain_op(*op, catalog, derivative, traced, tree ? tree->shown_spec : "", in_spec, terminal_width()));
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

Exit run(const ExplainOptions& options) {
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

std::string read_if_there(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Catalog catalog_of(const ExplainOptions& options) {
  return load_catalog(find_torch(options.torch.empty() ? std::nullopt : std::optional<fs::path>(options.torch)));
}

void add_explain(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("explain", "Tell about a file or line of a backend, an operator, or a diagnostic");
  auto options = std::make_shared<ExplainOptions>();
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
