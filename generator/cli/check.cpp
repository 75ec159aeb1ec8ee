// openreg-gen check SPEC: every diagnostic at once.
#include "catalog/catalog.h"
#include "cli/cli.h"
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

struct Options {
  std::string spec;
  std::string torch;
  bool json = false, verbose = false;
};

std::string count(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

Exit check(const Options& options) {
  Diagnostics diagnostics;
  Spec spec = parse_spec(options.spec, diagnostics);
  std::string version;
  try {
    const Catalog catalog = load_catalog(
        find_torch(options.torch.empty() ? std::nullopt : std::optional<std::filesystem::path>(options.torch)));
    validate_spec(spec, catalog, diagnostics);
    version = catalog.torch_version();
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
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("check", "Check a spec: every error at once, with its place and a hint");
  verb->add_option("SPEC", options->spec, "the spec, YAML or JSON")->required()->type_name("FILE");
  verb->add_option("--torch", options->torch, "the PyTorch to check against; default: the active environment's")
      ->type_name("DIR");
  verb->add_flag("--verbose", options->verbose,
                 "say which operators each selection of `ops` takes and leaves, and why");
  verb->add_flag("--json", options->json, "diagnostics as JSON, to stdout");
  verb->callback([options, &session] { session.action = [options] { return check(*options); }; });
}

}  // namespace openreg_gen
