// openreg-gen generate: renders a tree again from its own spec.
#include "cli/generate.h"

#include "cli/cli.h"
#include "cli/open_tree.h"
#include "cli/plan_view.h"
#include "diag/render.h"
#include "tree/apply.h"
#include "tree/paths.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

namespace openreg_gen {
namespace fs = std::filesystem;
namespace {

std::string read_spec(const RealDisk& disk, const std::string& path) {
  check_inside(disk, path);
  if (disk.kind(path) == FileKind::None) {
    throw Failure(Exit::BadInput, "E0511", "the tree's spec '" + path + "' is gone", "restore it from version control");
  }
  return disk.kind(path) == FileKind::Folder ? std::string() : disk.read(path);
}

/// The spec's path as its user would write it.
fs::path shown_spec(const GenerateOptions& options, const OpenTree& tree) {
  const fs::path spec = tree.root / tree.manifest.spec;
  if (options.folder.empty()) return fs::proximate(spec);
  return fs::path(options.folder) / fs::proximate(spec, options.folder);
}

/// What the same spec now means, for a tree that an earlier version rendered; empty for all others. The next run finds
/// a tree of today, so it is said once.
std::string changed_meaning(const Manifest& manifest, const Spec& spec) {
  const bool copied = manifest.files.contains("csrc/aten/Fallback.h");
  if (!copied || *spec.fallback.kind != FallbackKind::Cpu) return {};
  return "`fallback: cpu` used to copy; operators without a kernel now run on the device's memory where functions "
         "launched "
         "there reach it. `fallback: copy` is what it was";
}

Exit show_fresh(const GenerateOptions& options, const OpenTree& tree) {
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"root", tree.root.string()},
                                      {"changed", false},
                                      {"refused", false},
                                      {"conflicts", false},
                                      {"files", nlohmann::json::array()}}
                           .dump());
  } else {
    fmt::print("up to date: {}\n", count_classes(tree.manifest));
  }
  return Exit::Done;
}

Exit show(const GenerateOptions& options, const fs::path& root, const Plan& plan, const EditedSpec& edited) {
  const bool no = plan.refused() || plan.conflicts() || (options.check && !plan.clean());
  const Exit exit = no ? Exit::No : Exit::Done;
  if (options.json) {
    nlohmann::json told = edited.told;
    told.update({{"root", root.string()},
                 {"changed", plan.changes()},
                 {"refused", plan.refused()},
                 {"conflicts", plan.conflicts()},
                 {"files", steps_json(plan)}});
    fmt::print("{}\n", told.dump());
    return exit;
  }
  const bool colour = colour_wanted(STDOUT_FILENO);
  if (options.diff) {
    fmt::print("{}", plan_diff(plan, colour));
    return exit;
  }
  if (options.check) {
    fmt::print("{}", check_report(plan, colour));
    if (plan.clean()) fmt::print("up to date: {}\n", count_classes(plan.manifest));
  } else {
    if (!plan.refused()) fmt::print("{}", edited.said);
    fmt::print("{}", steps_table(plan, colour));
    if (plan.refused()) {
      std::fflush(stdout);
      return print_refusal(plan);
    }
    const char* what = !plan.changes() ? "up to date" : options.writes() ? "rendered" : "nothing written; would be";
    if (!plan.conflicts()) fmt::print("{}: {}\n", what, count_classes(plan.manifest));
  }
  fmt::print("{}{}", drift_report(plan, colour), conflict_report(plan, colour));
  return exit;
}

}  // namespace

Exit generate(const GenerateOptions& options, const EditSpec& edit) {
  OpenTree tree = open_tree(options.folder, options.writes() ? Access::Write : Access::Read);
  RealDisk& disk = *tree.disk;
  const Manifest& manifest = tree.manifest;
  PlanOptions how;
  how.ignore = read_ignore(disk);
  how.force = options.force;
  how.side = options.ours ? MergeSide::Ours : options.theirs ? MergeSide::Theirs : MergeSide::Markers;
  how.disown = {options.disown.begin(), options.disown.end()};

  const std::string on_disk = read_spec(disk, manifest.spec);
  std::string text = on_disk;
  auto inputs = read_inputs(text, shown_spec(options, tree), options.torch, options.json);
  if (!inputs) return Exit::BadInput;
  EditedSpec edited;
  if (edit) {
    auto done = edit(*inputs);
    if (!done) return Exit::BadInput;
    edited = std::move(*done);
    text = edited.text;
    inputs = read_again(std::move(*inputs), text, options.json);
    if (!inputs) return Exit::BadInput;
  }

  const DataDir data = find_data();
  Rendering rendering = prepare(*inputs, data, manifest.spec, how.ignore);
  if (!edit && how.disown.empty() && is_fresh(disk, manifest, rendering.next)) return show_fresh(options, tree);

  add_outputs(rendering, *inputs, data);
  Renderer renderer(data);
  std::vector<Rendered> renders = render(renderer, rendering);
  renders.push_back(spec_output(manifest.spec, std::move(text)));
  if (edit) renders.back().replaces = on_disk;
  if (std::string changed = changed_meaning(manifest, inputs->spec); !changed.empty()) {
    edited.told["note"] = changed;
    edited.said = "note: " + changed + "\n" + edited.said;
  }
  const Plan plan = make_plan(disk, &manifest, std::move(renders), rendering.next, how);
  if (options.writes() && !plan.refused()) apply_plan(disk, plan, options.what);
  return show(options, tree.root, plan, edited);
}

void add_generate_options(CLI::App& verb, const std::shared_ptr<GenerateOptions>& options) {
  verb.add_option("-C", options->folder, "The tree, or a folder in it; default: the one you stand in")
      ->type_name("DIR");
  verb.add_option("--torch", options->torch, "PyTorch to read the operators from; default: the active environment's")
      ->type_name("DIR");
  CLI::Option* dry = verb.add_flag("--dry-run", options->dry_run, "Say what would be done, and write nothing");
  verb.add_flag("--diff", options->diff, "Show what would be done as a diff, and write nothing")->excludes(dry);
  CLI::Option* ours = verb.add_flag("--ours", options->ours, "Where both changed the same lines, take yours");
  verb.add_flag("--theirs", options->theirs, "Where both changed the same lines, take the render's; a copy is kept")
      ->excludes(ours);
  verb.add_flag("--force", options->force, "Replace files that are in the way; copies go to .openreg-gen/backup");
  verb.add_flag("--json", options->json, "Print one JSON object");
}

void add_generate(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("generate", "Render a backend again from its own spec");
  auto options = std::make_shared<GenerateOptions>();
  add_generate_options(*verb, options);
  verb->add_flag("--check", options->check, "Write nothing; exit 1 and list the files if the tree is not up to date")
      ->excludes("--dry-run")
      ->excludes("--diff");
  verb->callback([options, &session] {
    session.json = options->json;
    session.action = [options] { return generate(*options); };
  });
}

}  // namespace openreg_gen
