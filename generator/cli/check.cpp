// openreg-gen check SPEC: every diagnostic at once; with --against DIR: what another PyTorch would do to the spec.
#include "catalog/catalog.h"
#include "cli/cli.h"
#include "cli/drift_view.h"
#include "cli/report.h"
#include "cli/spec_view.h"
#include "diag/render.h"
#include "spec/spec.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace openreg_gen {
namespace {

struct CheckOptions {
  std::string spec;
  std::string torch, against;
  bool json = false, verbose = false;
};

std::string count(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

/// For a comparison it does not matter that the spec is for neither of the two releases.
Diagnostics without_range(const Diagnostics& diagnostics) {
  Diagnostics rest;
  for (const auto& diagnostic : diagnostics.all()) {
    if (diagnostic.code != "E0404") rest.add(diagnostic);
  }
  return rest;
}

Exit compare(const CheckOptions& options, const Spec& spec, const Catalog& here) {
  const Catalog there = load_catalog(find_torch(options.against));
  const SpecDrift drift = compare_spec(spec, here, there);
  if (options.json)
    std::puts(spec_drift_json(drift, spec, here, there).dump(1).c_str());
  else
    std::fputs(spec_drift_text(drift, spec, here, there).c_str(), stdout);
  return drift.breaks() == 0 ? Exit::Done : Exit::No;
}

Exit check(const CheckOptions& options) {
  Diagnostics diagnostics;
  Spec spec = parse_spec(options.spec, diagnostics);
  const Spec parsed = spec;
  std::string version;
  try {
    const Catalog catalog = load_catalog(
        find_torch(options.torch.empty() ? std::nullopt : std::optional<std::filesystem::path>(options.torch)));
    validate_spec(spec, catalog, diagnostics);
    version = catalog.torch_version();
    if (!options.against.empty()) {
      if (report(without_range(diagnostics), options.json)) return Exit::BadInput;
      return compare(options, parsed, catalog);
    }
  } catch (const Failure&) {
    // Without PyTorch the spec's own errors are still worth telling.
    if (report(diagnostics, options.json)) return Exit::BadInput;
    throw;
  }
  if (options.json) {
    auto result = nlohmann::ordered_json::parse(render_json(diagnostics));
    if (!diagnostics.has_errors())
      result.update({{"ops", spec.ops.size()},
                     {"custom_ops", spec.custom_ops.size()},
                     {"torch", version},
                     {"selections", selections_json(spec)}});
    std::puts(result.dump().c_str());
    return diagnostics.has_errors() ? Exit::BadInput : Exit::Done;
  }
  if (report(diagnostics, false)) {
    const auto errors = std::ranges::count(diagnostics.all(), Severity::Error, &Diagnostic::severity);
    std::fputs(fmt::format("\n{}: {}\n", options.spec, count(static_cast<std::size_t>(errors), "error")).c_str(),
               stderr);
    return Exit::BadInput;
  }
  std::puts(fmt::format("{}: ok, {}, {}, PyTorch {}", options.spec, count(spec.ops.size(), "operator"),
                        count(spec.custom_ops.size(), "custom operator"), version)
                .c_str());
  std::fputs(selections_text(spec, options.verbose).c_str(), stdout);
  return Exit::Done;
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto options = std::make_shared<CheckOptions>();
  auto* verb = app.add_subcommand("check", "Check a spec: every error at once, with its place and a hint");
  verb->add_option("SPEC", options->spec, "the spec, YAML or JSON")->required()->type_name("FILE");
  verb->add_option("--torch", options->torch, "the PyTorch to check against; default: the active environment's")
      ->type_name("DIR");
  verb->add_option("--against", options->against,
                   "another PyTorch, or a folder with its declarations: say what it would break, and exit 1 if it does")
      ->type_name("DIR");
  verb->add_flag("--verbose", options->verbose,
                 "say which operators each selection of `ops` takes and leaves, and why");
  verb->add_flag("--json", options->json, "diagnostics as JSON, to stdout");
  verb->callback([options, &session] {
    session.json = options->json;
    session.action = [options] { return check(*options); };
  });
}

}  // namespace openreg_gen
