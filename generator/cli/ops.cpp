// openreg-gen ops [PATTERN], openreg-gen ops show OP, openreg-gen ops list SPEC, openreg-gen ops diff DIR_A DIR_B
#include "cli/ops_view.h"
#include "cli/terminal_text.h"
#include "cli/tree_spec.h"
#include "cli/verb.h"

#include <unistd.h>

namespace openreg_gen {

Verb ops_coverage_verb();  // in ops_coverage.cpp

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTorch = "The PyTorch to read: its folder, a site-packages, an environment";

struct SearchOptions {
  std::string pattern;
};
struct ShowOptions {
  std::string op;
};
struct ListOptions {
  std::string spec;
};
struct DiffOptions {
  std::string before, after;
};

void declare(CLI::App& app, Invocation& call, SearchOptions& options) {
  app.add_option("PATTERN", options.pattern, "Part of a name, or a glob: add, 'add*.out', '*_backward'");
  call.add_json(app);
  call.add_torch(app, kTorch);
}

void declare(CLI::App& app, Invocation& call, ShowOptions& options) {
  app.add_option("OP", options.op, "add.Tensor; a base name lists its overloads")->required();
  call.add_tree(app, "A tree: which strategies it takes; default: the tree that contains the current directory");
  call.add_json(app);
  call.add_torch(app, kTorch);
}

void declare(CLI::App& app, Invocation& call, ListOptions& options) {
  app.add_option("SPEC", options.spec, "The spec, YAML or JSON")->required()->type_name("FILE");
  call.add_json(app);
  call.add_torch(app, kTorch);
}

void declare(CLI::App& app, Invocation& call, DiffOptions& options) {
  app.add_option("DIR_A", options.before, "The old PyTorch: an installed one, or a folder with its declarations")
      ->required()
      ->type_name("DIR");
  app.add_option("DIR_B", options.after, "The new PyTorch")->required()->type_name("DIR");
  call.add_json(app);
}

/// The answer "there is none": a line for people, an empty list for tools.
Exit nothing(Invocation& call, const std::string& what) {
  call.put(Json{{"ops", Json::array()}});
  const Catalog& catalog = call.catalog();
  const auto hint = suggest_op(catalog, what);
  fmt::print(stderr, "no operator of PyTorch {} matches '{}'{}{}\n", catalog.torch_version(), what,
             hint.empty() ? "" : "; ", hint);
  return Exit::No;
}

Exit run(Invocation& call, const SearchOptions& options) {
  const Catalog& catalog = call.catalog();
  const auto found = match_ops(catalog, options.pattern);
  if (found.empty()) return nothing(call, options.pattern);
  if (call.put(Json{{"ops", json_list(found, [](const Op* op) { return op_summary(*op); })}}, 1)) return Exit::Done;
  print_text(ops_table(found, terminal_width()));
  if (::isatty(STDOUT_FILENO) != 0)
    fmt::print("{} of {} operators of PyTorch {}\n", found.size(), catalog.all().size(), catalog.torch_version());
  return Exit::Done;
}

Exit run(Invocation& call, const ShowOptions& options) {
  const Catalog& catalog = call.catalog();
  const auto overloads = catalog.overloads(options.op);
  const auto* op = catalog.find(options.op);
  // A base name with one overload is as good as that overload's name.
  if (op == nullptr && overloads.size() == 1) op = overloads[0];
  if (op == nullptr && overloads.empty()) return nothing(call, options.op);
  const std::optional<Spec> tree = spec_around(call);
  const Spec* spec = tree ? &*tree : nullptr;
  const std::vector<const Op*> shown = op == nullptr ? overloads : std::vector<const Op*>{op};
  return call.answer(
      Json{{"ops", json_list(shown, [&](const Op* each) { return op_details(*each, spec); })}},
      op == nullptr ? overloads_table(options.op, overloads, terminal_width()) : op_page(*op, page_width(), spec));
}

Exit run(Invocation& call, const ListOptions& options) {
  Diagnostics diagnostics;
  const auto resolved = call.valid(parse_spec(options.spec, diagnostics), diagnostics);
  if (!resolved) return Exit::BadInput;
  return call.answer(Json{{"ops", spec_ops_json(*resolved)}}, spec_ops_table(*resolved, terminal_width()));
}

Exit run(Invocation& call, const DiffOptions& options) {
  const auto before = load_catalog(find_torch(options.before)), after = load_catalog(find_torch(options.after));
  const auto found = diff_catalogs(before, after);
  return call.answer(catalog_diff_json(found), catalog_diff_text(found, before, after));
}

}  // namespace

Verb ops_verb() {
  return {
      "ops",
      "Search the operators that the installed PyTorch declares",
      with_options<SearchOptions>(declare, run),
      {"ops softmax", "ops 'add*.out'", "ops show add.Tensor", "ops list mybackend.yaml",
       "ops diff torch-2.11.0 torch-2.13.0", "ops coverage mybackend.yaml --html=coverage.html"},
      {{"show", "Show one operator: signature, kind, variants, strategies that fit",
        with_options<ShowOptions>(declare, run)},
       {"list", "List the operators of a spec, with its selections expanded", with_options<ListOptions>(declare, run)},
       {"diff", "List the operators that another PyTorch adds, removes or changes",
        with_options<DiffOptions>(declare, run)},
       ops_coverage_verb()}};
}

}  // namespace openreg_gen
