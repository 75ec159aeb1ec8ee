// openreg-gen explain WHAT: a file or line of a tree, an operator, a diagnostic.
#include "cli/explain.h"

#include "cli/explain_view.h"
#include "cli/ops_view.h"
#include "cli/page.h"
#include "cli/verb.h"
#include "diag/codes.h"
#include "diag/suggest.h"
#include "diag/text.h"
#include "render/data_dir.h"
#include "resolve/validate.h"
#include "spec/keys.h"
#include "system/files.h"
#include "tree/disk.h"
#include "tree/find_tree.h"
#include "tree/paths.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace openreg_gen {
namespace fs = std::filesystem;
namespace {

struct ExplainOptions {
  std::string what;
};

void declare(CLI::App& app, Invocation& call, ExplainOptions& options) {
  app.add_option("WHAT", options.what, "PATH or PATH:LINE in a tree; an operator, add.Tensor; a code, E0203")
      ->required();
  call.add_tree(app, "The tree, or a folder in it; default: the one the file is in, or you stand in");
  call.add_torch(app);
  call.add_json(app);
}

std::optional<ExplainedTree> tree_around(const Invocation& call, const fs::path& near) {
  ExplainedTree tree;
  std::error_code error;
  try {
    const fs::path start = !call.folder.empty()      ? fs::path(call.folder)
                           : fs::exists(near, error) ? (fs::is_directory(near) ? near : near.parent_path())
                                                     : fs::path();
    tree.root = find_tree(start);
  } catch (const Failure&) {
    if (!call.folder.empty()) throw;
    return std::nullopt;
  }
  tree.manifest = parse_manifest(read_if_there(tree.root / kManifest));
  tree.shown_spec = fs::proximate(tree.root / tree.manifest.spec).string();
  Diagnostics ignored;  // a spec with faults still says what it says; `check` tells the faults
  if (auto text = read_spec_file(tree.root / tree.manifest.spec, ignored))
    tree.spec = parse_spec_text(std::move(*text), tree.shown_spec, ignored);
  return tree;
}

Exit explain_code(const Invocation& call, const std::string& given) {
  const std::string code = upper_case(given);
  const Code* found = find_code(code);
  if (!found) {
    std::vector<std::string_view> codes;
    for (const Code& each : all_codes()) codes.push_back(each.code);
    throw Failure(Exit::BadInput, "E0554", fmt::format("there is no diagnostic '{}'", code), did_you_mean(code, codes));
  }
  if (call.json) {
    print_json(nlohmann::ordered_json{{"code", found->code}, {"title", found->title}, {"text", found->explanation}});
    return Exit::Done;
  }
  fmt::print("{}: {}\n\n  {}\n", found->code, found->title,
             wrap_words(std::string(found->explanation), 2, terminal_width()));
  return Exit::Done;
}

Exit explain_custom(const Invocation& call, const CustomOpSpec& op, const std::string& name) {
  const std::string place = fmt::format("{}:{}", op.schema.at.file, op.schema.at.line);
  if (call.json) {
    print_json(nlohmann::ordered_json{{"schema", *op.schema}, {"place", place}});
    return Exit::Done;
  }
  const auto autograd = find_key("custom_ops[].autograd")->values[static_cast<std::size_t>(*op.autograd)];
  Page page(terminal_width());
  page.raw(fmt::format("{}\n\n", *op.schema));
  page.entry("class", "custom: the backend's own, torch.ops." + name);
  page.entry("kernel", op.expr.given() ? "the spec's expression, on the device, the CPU and meta: " + op.expr->text
                                       : "yours, in csrc/aten/native");
  std::vector<std::string> gradients;
  for (const auto& gradient : *op.backward) gradients.push_back(gradient ? gradient->text : "");
  page.entry("autograd", fmt::format("{}{}{}", autograd, gradients.empty() ? "" : ": ", fmt::join(gradients, ";")));
  page.entry("this tree", place);
  print_text(page.take());
  return Exit::Done;
}

Exit explain_operator(Invocation& call, const std::string& word, const std::optional<ExplainedTree>& tree) {
  if (tree) {
    const std::string& backend = *tree->spec.backend.name;
    const std::string bare = word.starts_with(backend + "::") ? word.substr(backend.size() + 2) : word;
    for (const CustomOpSpec& op : tree->spec.custom_ops) {
      if (op.schema->substr(0, op.schema->find('(')) == bare) return explain_custom(call, op, backend + "." + bare);
    }
  }
  const Catalog& catalog = call.catalog();
  const Op* op = catalog.find(word);
  if (!op) {
    const auto overloads = catalog.overloads(word);
    if (overloads.size() > 1 && !call.json) {
      print_text(overloads_table(word, overloads, terminal_width()));
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
    Diagnostics ignored;
    in_spec = find_in_spec(*op, expand_ops(tree->spec, catalog, ignored));
  }
  const Traced traced = find_traced(*op, catalog, read_decompositions(find_data().specs / "decompositions.json"));
  if (call.json) {
    print_json(explain_op_json(*op, catalog, derivative, traced, in_spec), 1);
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
  if (!std::all_of(path.begin() + static_cast<std::ptrdiff_t>(colon) + 1, path.end(), is_digit)) return 0;
  const int line = std::stoi(path.substr(colon + 1));
  path.resize(colon);
  return line;
}

Exit run(Invocation& call, const ExplainOptions& options) {
  const std::string& what = options.what;
  const bool code =
      what.size() == 5 && (what[0] == 'E' || what[0] == 'e') && std::all_of(what.begin() + 1, what.end(), is_digit);
  if (code) return explain_code(call, what);
  std::string path = what;
  const int line = split_line(path);
  std::error_code error;
  const auto tree = tree_around(call, path);
  if (tree) {
    const fs::path here = fs::weakly_canonical(path, error).lexically_relative(fs::canonical(tree->root, error));
    const bool inside = !here.empty() && *here.begin() != "..";
    if (inside && (fs::is_regular_file(path, error) || tree->manifest.files.contains(here.generic_string())))
      return explain_path(call, *tree, here.generic_string(), line);
    const std::string plain = fs::path(path).lexically_normal().generic_string();
    if (tree->manifest.files.contains(plain) || plain.find('/') != std::string::npos || line > 0)
      return explain_path(call, *tree, plain, line);
  } else if (what.find('/') != std::string::npos || line > 0) {
    throw Failure(Exit::BadInput, "E0502", "'" + path + "' is in no generated backend",
                  "operators and diagnostics are explained anywhere; for a file, give its tree with -C");
  }
  return explain_operator(call, what, tree);
}

}  // namespace

std::string read_if_there(const fs::path& path) { return try_read_file(path).value_or(""); }

Verb explain_verb() {
  return {"explain",
          "Explain a file or line of a backend, an operator, or a diagnostic",
          with_options<ExplainOptions>(declare, run),
          {"explain csrc/runtime/Guard.cpp", "explain csrc/aten/RegisterNative_n.cpp:42", "explain add.out",
           "explain E0203"}};
}

}  // namespace openreg_gen
