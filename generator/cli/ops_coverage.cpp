// openreg-gen ops coverage [SPEC]: how each operator of PyTorch runs on a backend.
#include "cli/coverage_view.h"
#include "cli/operators_page.h"
#include "cli/verb.h"
#include "pipeline/templates.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace {

struct CoverageOptions {
  std::string spec, html, list;
};

void declare(CLI::App& app, Invocation& call, CoverageOptions& options) {
  auto* spec = app.add_option("SPEC", options.spec, "The spec; without one, a backend that registers the minimal set")
                   ->type_name("FILE");
  call.add_tree(app, "The tree whose spec to use, or a folder in it")->excludes(spec);
  app.add_option("--list", options.list, "List only the operators of one kind, with the reason")
      ->check(CLI::IsMember({"native", "delegate", "composite", "fallback", "missing", "not-for-you"}));
  app.add_flag("--html{-}", options.html,
               "Print one self-contained page with search and bars instead of the text; with FILE, write it there, too")
      ->type_name(kOptionalFile);
  call.add_json(app);
  call.add_torch(app, "The PyTorch to read: its folder, a site-packages, an environment");
}

/// The spec that is meant: the one named, else that of the tree; empty for neither.
fs::path spec_path(const Invocation& call, const CoverageOptions& options) {
  if (!options.spec.empty() || call.folder.empty()) return options.spec;
  const fs::path root = find_tree(call.folder);
  return root / parse_manifest(RealDisk(root).read(std::string(kManifest))).spec;
}

Exit run(Invocation& call, const CoverageOptions& options) {
  const fs::path path = spec_path(call, options);
  Diagnostics diagnostics;
  // Without a spec: a backend that registers what every backend does.
  Spec parsed =
      path.empty() ? parse_spec_text("backend: {name: backend}\n", "", diagnostics) : parse_spec(path, diagnostics);
  const auto resolved = call.valid(std::move(parsed), diagnostics);
  if (!resolved) return Exit::BadInput;
  const CoverageTable table = cover(*resolved, device_kernels(read_templates(find_data()), resolved->spec));
  const CoverageSubject subject{path.empty() ? "A backend without operators of its own" : *resolved->spec.backend.name,
                                call.catalog().torch_version()};
  if (!options.html.empty()) write_file(options.html, coverage_html(table, subject));
  if (options.html == "-" && !call.json) return Exit::Done;
  for (const auto coverage : kCoverages) {
    if (options.list != to_string(coverage) || call.json) continue;
    print_text(coverage_list(table, coverage));
    return Exit::Done;
  }
  return call.answer(coverage_json(table, subject), coverage_text(table, subject));
}

}  // namespace

Verb ops_coverage_verb() {
  return {"coverage", "Show how each operator runs on a backend, with totals by family",
          with_options<CoverageOptions>(declare, run)};
}

}  // namespace openreg_gen
