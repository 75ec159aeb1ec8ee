// openreg-gen check SPEC: every diagnostic at once; with --against DIR: what another PyTorch would break.
#include "cli/api_view.h"
#include "cli/ops_view.h"
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "diag/render.h"
#include "tree/paths.h"

#include <unistd.h>

#include <algorithm>

namespace openreg_gen {
namespace {

struct CheckOptions {
  std::string spec, against;
  bool verbose = false;
};

void declare(CLI::App& app, Invocation& call, CheckOptions& options) {
  app.add_option("SPEC", options.spec, "The spec, YAML or JSON; default: the tree's")->type_name("FILE");
  call.add_tree(app, "The tree that --against looks at; default: the tree that contains SPEC or the current directory");
  call.add_torch(app, "The PyTorch to check against; default: the active environment's");
  app.add_option("--against", options.against,
                 "Another PyTorch, or a folder with its headers or its declarations: report what it would break of the "
                 "spec and of the tree's sources; exit 1 if anything")
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

/// SPEC and the tree that has it, which may be none; else the spec of the tree.
struct Where {
  std::string spec;
  fs::path root;
};
Where find_spec(const Invocation& call, const CheckOptions& options) {
  std::error_code error;
  if (!options.spec.empty()) {
    const fs::path folder =
        call.folder.empty() ? fs::absolute(options.spec, error).parent_path() : fs::path(call.folder);
    const bool is_tree = !call.folder.empty() || fs::exists(folder / kManifest, error);
    return {options.spec,
            is_tree && !options.against.empty() ? open_tree(folder.string(), Access::Read).root : fs::path()};
  }
  const OpenTree tree = call.tree(Access::Read);
  const fs::path path = tree.root / tree.manifest.spec, shorter = fs::relative(path, error);
  const bool is_below = !error && !shorter.empty() && *shorter.begin() != "..";
  return {is_below ? shorter.string() : path.string(), tree.root};
}

Exit compare(Invocation& call, const Spec& spec, const fs::path& root, const std::string& against) {
  const OtherTorch other = find_other_torch(against);
  const Catalog& here = call.catalog();
  const ApiAnswer api = compare_api(root, here.torch_dir(), other);
  if (other.torch.empty() && !api.drift)
    throw Failure(Exit::BadInput, "E0405",
                  against + ": headers alone, and nothing to compare with them: " + api.not_compared,
                  "name an installed PyTorch, or run this in a tree");
  nlohmann::ordered_json json{
      {"spec", spec.path.string()}, {"torch", here.torch_version()}, {"against", other.version}, {"breaks", 0}};
  std::string text;
  std::size_t breaks = api.breaks();
  if (!other.torch.empty()) {
    const Catalog there = load_catalog(other.torch);
    const SpecDrift drift = compare_spec(spec, here, there);
    json = spec_drift_json(drift, spec, here, there);
    text = spec_drift_text(drift, spec, here, there);
    breaks += drift.breaks();
  }
  json["breaks"] = breaks;
  json["api"] = api_json(api);
  call.answer(json, text + api_text(api, root, colour_wanted(STDOUT_FILENO)));
  return breaks == 0 ? Exit::Done : Exit::No;
}

Exit run(Invocation& call, const CheckOptions& options) {
  Diagnostics diagnostics;
  const auto [path, root] = find_spec(call, options);
  Spec spec = parse_spec(path, diagnostics);
  std::optional<ResolvedSpec> resolved;
  try {
    resolved.emplace(resolve(std::move(spec), call.catalog(), diagnostics));
    if (!options.against.empty()) {
      if (call.report(without_range(diagnostics))) return Exit::BadInput;
      return compare(call, resolved->spec, root, options.against);
    }
  } catch (const Failure&) {
    // Without PyTorch, still report the spec's own errors.
    if (call.report(diagnostics)) return Exit::BadInput;
    throw;
  }
  const std::string& version = call.catalog().torch_version();
  nlohmann::ordered_json result{{"diagnostics", diagnostics_json(diagnostics)}};
  if (!diagnostics.has_errors())
    result.update({{"ops", resolved->ops.size()},
                   {"custom_ops", resolved->spec.custom_ops.size()},
                   {"torch", version},
                   {"selections", selections_json(*resolved)}});
  if (call.put(result)) return diagnostics.has_errors() ? Exit::BadInput : Exit::Done;
  if (call.report(diagnostics)) {
    if (call.github) return Exit::BadInput;
    const auto errors = std::ranges::count(diagnostics.all(), Severity::Error, &Diagnostic::severity);
    fmt::print(stderr, "\n{}: {}\n", path, count_of(static_cast<std::size_t>(errors), "error"));
    return Exit::BadInput;
  }
  print_text(fmt::format("{}: ok, {}, {}, PyTorch {}\n", path, count_of(resolved->ops.size(), "operator"),
                         count_of(resolved->spec.custom_ops.size(), "custom operator"), version));
  print_text(selections_text(*resolved, options.verbose));
  return Exit::Done;
}

}  // namespace

Verb check_verb() {
  return {"check",
          "Check a spec: every error at once, with its place and a hint",
          with_options<CheckOptions>(declare, run),
          {"check mybackend.yaml", "check mybackend.yaml --against torch-2.15.0",
           "check -C torch_mybackend --against torch-2.15.0"}};
}

}  // namespace openreg_gen
