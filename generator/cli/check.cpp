// openreg-gen check SPEC: every diagnostic at once; with --against DIR: what another PyTorch would break.
#include "cli/ops_view.h"
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "diag/render.h"

#include <algorithm>

namespace openreg_gen {
namespace {

struct CheckOptions {
  std::string spec, against;
  bool verbose = false;
};

void declare(CLI::App& app, Invocation& call, CheckOptions& options) {
  app.add_option("SPEC", options.spec, "The spec, YAML or JSON")->required()->type_name("FILE");
  call.add_torch(app, "The PyTorch to check against; default: the active environment's");
  app.add_option("--against", options.against,
                 "Another PyTorch, or a folder with its declarations: report what would break; exit 1 if anything does")
      ->type_name("DIR");
  app.add_flag("--verbose", options.verbose,
               "List the operators that each selection of `ops` takes or leaves out, and why");
  call.add_json(app);
  call.add_error_format(app);
}

/// For a comparison it does not matter that the spec is for neither of the two releases.
Diagnostics without_range(const Diagnostics& diagnostics) {
  Diagnostics rest;
  for (const auto& diagnostic : diagnostics.all())
    if (diagnostic.code != "E0404") rest.add(diagnostic);
  return rest;
}

Exit compare(Invocation& call, const Spec& spec, const std::string& against) {
  const Catalog &here = call.catalog(), there = load_catalog(find_torch(against));
  const SpecDrift drift = compare_spec(spec, here, there);
  call.answer(spec_drift_json(drift, spec, here, there), spec_drift_text(drift, spec, here, there));
  return drift.breaks() == 0 ? Exit::Done : Exit::No;
}

Exit run(Invocation& call, const CheckOptions& options) {
  Diagnostics diagnostics;
  Spec spec = parse_spec(options.spec, diagnostics);
  std::optional<ResolvedSpec> resolved;
  try {
    resolved.emplace(resolve(std::move(spec), call.catalog(), diagnostics));
    if (!options.against.empty()) {
      if (call.report(without_range(diagnostics))) return Exit::BadInput;
      return compare(call, resolved->spec, options.against);
    }
  } catch (const Failure&) {
    // Without PyTorch, still report the spec's own errors.
    if (call.report(diagnostics)) return Exit::BadInput;
    throw;
  }
  const std::string& version = call.catalog().torch_version();
  if (call.json) {
    nlohmann::ordered_json result{{"diagnostics", diagnostics_json(diagnostics)}};
    if (!diagnostics.has_errors())
      result.update({{"ops", resolved->ops.size()},
                     {"custom_ops", resolved->spec.custom_ops.size()},
                     {"torch", version},
                     {"selections", selections_json(*resolved)}});
    print_json(result);
    return diagnostics.has_errors() ? Exit::BadInput : Exit::Done;
  }
  if (call.report(diagnostics)) {
    if (call.github) return Exit::BadInput;
    const auto errors = std::ranges::count(diagnostics.all(), Severity::Error, &Diagnostic::severity);
    fmt::print(stderr, "\n{}: {}\n", options.spec, count_of(static_cast<std::size_t>(errors), "error"));
    return Exit::BadInput;
  }
  print_text(fmt::format("{}: ok, {}, {}, PyTorch {}\n", options.spec, count_of(resolved->ops.size(), "operator"),
                         count_of(resolved->spec.custom_ops.size(), "custom operator"), version));
  print_text(selections_text(*resolved, options.verbose));
  return Exit::Done;
}

}  // namespace

Verb check_verb() {
  return {"check",
          "Check a spec: every error at once, with its place and a hint",
          with_options<CheckOptions>(declare, run),
          {"check mybackend.yaml", "check mybackend.yaml --against torch-2.15.0"}};
}

}  // namespace openreg_gen
