// openreg-gen ops [PATTERN], openreg-gen ops show OP, openreg-gen ops list SPEC, openreg-gen ops diff DIR_A DIR_B
#include "cli/cli.h"
#include "cli/ops_coverage.h"
#include "cli/ops_view.h"
#include "cli/common.h"
#include "cli/drift_view.h"
#include "cli/spec_view.h"
#include "cli/table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

namespace openreg_gen {
namespace {

struct OpsOptions {
  std::string pattern, op, spec, before, after, torch;
  bool json = false;
};

Catalog catalog_of(const OpsOptions& options) {
  return load_catalog(
      find_torch(options.torch.empty() ? std::nullopt : std::optional<std::filesystem::path>(options.torch)));
}

/// The answer "there is none": a line for people, an empty list for tools.
Exit nothing(const OpsOptions& options, const Catalog& catalog, const std::string& what) {
  if (options.json) fmt::print("[]\n");
  const auto hint = suggest_op(catalog, what);
  fmt::print(stderr, "no operator of PyTorch {} matches '{}'{}{}\n", catalog.torch_version(), what,
             hint.empty() ? "" : "; ", hint);
  return Exit::No;
}

Exit list(const OpsOptions& options) {
  const auto catalog = catalog_of(options);
  const auto found = match_ops(catalog, options.pattern);
  if (found.empty()) return nothing(options, catalog, options.pattern);
  if (options.json) {
    auto json = nlohmann::ordered_json::array();
    for (const auto* op : found) json.push_back(op_summary(*op));
    fmt::print("{}\n", json.dump(1));
    return Exit::Done;
  }
  fmt::print("{}", ops_table(found, terminal_width()));
  if (::isatty(STDOUT_FILENO) != 0) {
    fmt::print("{} of {} operators of PyTorch {}\n", found.size(), catalog.all().size(), catalog.torch_version());
  }
  return Exit::Done;
}

Exit show(const OpsOptions& options) {
  const auto catalog = catalog_of(options);
  const auto overloads = catalog.overloads(options.op);
  const auto* op = catalog.find(options.op);
  // A base name with one overload is as good as that overload's name.
  if (op == nullptr && overloads.size() == 1) op = overloads[0];
  if (op == nullptr && overloads.empty()) return nothing(options, catalog, options.op);
  if (options.json) {
    auto json = nlohmann::ordered_json::array();
    if (op != nullptr) json.push_back(op_details(*op));
    for (const auto* each : overloads) {
      if (op == nullptr) json.push_back(op_details(*each));
    }
    fmt::print("{}\n", json.dump(1));
  } else if (op != nullptr) {
    fmt::print("{}", op_page(*op, terminal_width()));
  } else {
    fmt::print("'{}' has {} overloads; name one of them:\n\n{}", options.op, overloads.size(),
               ops_table(overloads, terminal_width()));
  }
  return Exit::Done;
}

Exit list_spec(const OpsOptions& options) {
  const auto inputs = read_inputs(options.spec, options.torch, options.json);
  if (!inputs) return Exit::BadInput;
  if (options.json) {
    fmt::print("{}\n", spec_ops_json(inputs->spec, inputs->catalog).dump(1));
  } else {
    fmt::print("{}", spec_ops_table(inputs->spec, terminal_width()));
  }
  return Exit::Done;
}

Exit diff(const OpsOptions& options) {
  const auto before = load_catalog(find_torch(options.before)), after = load_catalog(find_torch(options.after));
  const auto found = diff_catalogs(before, after);
  if (options.json)
    fmt::print("{}\n", catalog_diff_json(found).dump(1));
  else
    fmt::print("{}", catalog_diff_text(found, before, after));
  return Exit::Done;
}

void add_torch(CLI::App& app, OpsOptions& options) {
  app.add_option("--torch", options.torch, "The PyTorch to read: its folder, a site-packages, an environment")
      ->type_name("DIR");
}

}  // namespace

void add_ops(CLI::App& app, Session& session) {
  auto options = std::make_shared<OpsOptions>();
  auto* ops = app.add_subcommand("ops", "Search the operators that the installed PyTorch declares");
  ops->add_option("PATTERN", options->pattern, "Part of a name, or a glob: add, 'add*.out', '*_backward'");
  ops->add_flag("--json", options->json, "Print a list of objects");
  add_torch(*ops, *options);
  ops->footer(
      "Examples:\n"
      "  openreg-gen ops softmax\n"
      "  openreg-gen ops 'add*.out'\n"
      "  openreg-gen ops show add.Tensor\n"
      "  openreg-gen ops list mybackend.yaml\n"
      "  openreg-gen ops diff torch-2.11.0 torch-2.13.0\n"
      "  openreg-gen ops coverage mybackend.yaml --html coverage.html");

  auto* one = ops->add_subcommand("show", "Show one operator: signature, class, variants, strategies that fit");
  one->add_option("OP", options->op, "add.Tensor; a base name lists its overloads")->required();
  one->add_flag("--json", options->json, "Print a list of objects, one an overload");
  add_torch(*one, *options);

  auto* of_spec = ops->add_subcommand("list", "List the operators of a spec, with what its selections stand for");
  of_spec->add_option("SPEC", options->spec, "The spec, YAML or JSON")->required()->type_name("FILE");
  of_spec->add_flag("--json", options->json, "Print a list of objects");
  add_torch(*of_spec, *options);

  auto* between = ops->add_subcommand("diff", "Say which operators another PyTorch adds, removes and changes");
  between->add_option("DIR_A", options->before, "The PyTorch to begin with: installed, or a folder of its declarations")
      ->required()
      ->type_name("DIR");
  between->add_option("DIR_B", options->after, "The PyTorch to end with")->required()->type_name("DIR");
  between->add_flag("--json", options->json, "Print {\"added\", \"removed\", \"changed\"}");

  auto covered = std::make_shared<std::function<Exit()>>();
  add_ops_coverage(*ops, *covered, options->json);

  ops->callback([covered, options, one, of_spec, between, &session] {
    session.json = options->json;
    session.action = [covered, options, shown = one->parsed(), listed = of_spec->parsed(),
                      compared = between->parsed()] {
      return *covered   ? (*covered)()
             : shown    ? show(*options)
             : listed   ? list_spec(*options)
             : compared ? diff(*options)
                        : list(*options);
    };
  });
}

}  // namespace openreg_gen
