// openreg-gen ops coverage [SPEC]: what becomes of each operator of PyTorch on a backend.
#include "cli/ops_coverage.h"

#include "cli/common.h"
#include "cli/coverage_view.h"
#include "tree/disk.h"
#include "tree/find_tree.h"
#include "tree/manifest.h"
#include "tree/paths.h"

#include <fmt/format.h>

#include <memory>

namespace openreg_gen {
namespace fs = std::filesystem;
namespace {

struct CoverageOptions {
  std::string spec, folder, torch, html, list;
  bool json = false;
};

/// The spec that is meant: the one named, else that of the tree; empty for neither.
fs::path spec_path(const CoverageOptions& options) {
  if (!options.spec.empty() || options.folder.empty()) return options.spec;
  const fs::path root = find_tree(options.folder);
  return root / parse_manifest(RealDisk(root).read(std::string(kManifest))).spec;
}

void write_page(const std::string& file, const std::string& html) {
  if (file == "-") {
    fmt::print("{}", html);
    return;
  }
  const fs::path path = fs::absolute(file);
  RealDisk disk(path.parent_path());
  const std::string name = path.filename().string(), part = name + ".part";
  if (name.empty() || disk.kind(name) == FileKind::Folder)
    throw Failure(Exit::BadInput, "E0500", "'" + file + "' is a folder", "name the HTML file: --html coverage.html");
  if (disk.kind(part) != FileKind::None) disk.remove(part);
  disk.write(part, html);
  disk.rename(part, name);
}

Exit run(const CoverageOptions& options) {
  const fs::path path = spec_path(options);
  // Without a spec: a backend that registers what every backend does.
  const auto inputs = path.empty()
                          ? read_inputs(std::string("backend: {name: backend}\n"), "", options.torch, options.json)
                          : read_inputs(path, options.torch, options.json);
  if (!inputs) return Exit::BadInput;
  const CoverageTable table = cover(inputs->spec, inputs->catalog);
  const CoverageSubject subject{path.empty() ? "A backend without operators of its own" : *inputs->spec.backend.name,
                                inputs->catalog.torch_version()};
  if (!options.html.empty()) write_page(options.html, coverage_html(table, subject));
  if (options.html == "-") return Exit::Done;
  for (const auto coverage : kCoverages) {
    if (options.list != to_string(coverage) || options.json) continue;
    fmt::print("{}", coverage_list(table, coverage));
    return Exit::Done;
  }
  if (options.json)
    fmt::print("{}\n", coverage_json(table, subject).dump(1));
  else
    fmt::print("{}", coverage_text(table, subject));
  return Exit::Done;
}

}  // namespace

CLI::App* add_ops_coverage(CLI::App& ops, std::function<Exit()>& action, bool& json) {
  auto options = std::make_shared<CoverageOptions>();
  auto* verb = ops.add_subcommand("coverage", "Say what becomes of each operator on a backend, with totals by family");
  auto* spec =
      verb->add_option("SPEC", options->spec, "The spec; without one, a backend that registers the minimal set")
          ->type_name("FILE");
  verb->add_option("-C", options->folder, "The tree whose spec is meant, or a folder in it")
      ->type_name("DIR")
      ->excludes(spec);
  verb->add_option("--list", options->list, "List the operators of one kind, with the reason")
      ->check(CLI::IsMember({"native", "delegate", "composite", "fallback", "missing"}));
  verb->add_option("--html", options->html, "Also write one self-contained page with search and bars; - for stdout")
      ->type_name("FILE");
  verb->add_flag("--json", options->json, "Print one JSON object");
  verb->add_option("--torch", options->torch, "The PyTorch to read: its folder, a site-packages, an environment")
      ->type_name("DIR");
  verb->callback([options, &action, &json] {
    json = options->json;
    action = [options] { return run(*options); };
  });
  return verb;
}

}  // namespace openreg_gen
