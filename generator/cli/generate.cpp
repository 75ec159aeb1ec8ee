// openreg-gen generate: renders a tree again from its own spec.
#include "cli/cli.h"

#include "cli/generate.h"
#include "cli/usage.h"
#include "diag/render.h"
#include "tree/apply.h"
#include "tree/find_tree.h"
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
  Diagnostics diagnostics;
  return disk.kind(path) == FileKind::Folder ? std::string() : disk.read(path);
}

void print_json(const fs::path& root, const Plan& plan, nlohmann::json told) {
  told.update(
      {{"root", root.string()}, {"changed", plan.changes()}, {"refused", plan.refused()}, {"files", steps_json(plan)}});
  fmt::print("{}\n", told.dump());
}

/// The spec is its owner's; here it is written because they asked for it.
void write_spec(Plan& plan, const std::string& spec) {
  for (Step& step : plan.steps) {
    if (step.path != spec || step.before == step.after) continue;
    step.action = Action::Update;
    step.reason = "edited, as you asked";
  }
}

Exit show_fresh(const GenerateOptions& options, const fs::path& root, const Manifest& manifest) {
  if (options.json) {
    fmt::print("{}\n",
               nlohmann::json{
                   {"root", root.string()}, {"changed", false}, {"refused", false}, {"files", nlohmann::json::array()}}
                   .dump());
  } else {
    fmt::print("up to date: {} files\n", manifest.files.size());
  }
  return Exit::Done;
}

Exit show(const GenerateOptions& options, const fs::path& root, const Plan& plan, const EditedSpec& edited) {
  const bool stale = plan.refused() || plan.changes();
  if (options.json) {
    print_json(root, plan, edited.told);
    return plan.refused() || (options.check && stale) ? Exit::No : Exit::Done;
  }
  const std::string table = steps_table(plan);
  if (!options.diff && !plan.refused()) fmt::print("{}", edited.said);
  if (options.diff) fmt::print("{}", plan_diff(plan, colour_wanted(STDOUT_FILENO)));
  if (!options.diff) fmt::print("{}", table);
  if (options.check) {
    if (!stale) fmt::print("up to date: {}\n", count_classes(plan));
    if (stale && table.empty())
      fmt::print("  update  {}\n", kManifest);  // only what the tool keeps for itself is stale
    return stale ? Exit::No : Exit::Done;
  }
  if (plan.refused()) return print_refusal(plan);
  if (!options.diff) {
    const char* what = !plan.changes() ? "up to date" : options.writes() ? "rendered" : "nothing written; would be";
    fmt::print("{}: {}\n", what, count_classes(plan));
  }
  return Exit::Done;
}

}  // namespace

Exit generate(const GenerateOptions& options, const EditSpec& edit) {
  const fs::path root = find_tree(options.folder);
  RealDisk disk(root);
  check_inside(disk, std::string(kStateFolder));
  check_inside(disk, std::string(kManifest));
  std::unique_ptr<void, void (*)(void*)> lock(nullptr, [](void*) {});
  if (options.writes()) {
    lock = disk.lock();
    if (!lock)
      throw Failure(Exit::No, "E0510", "another openreg-gen is at work in '" + root.string() + "'",
                    "wait for it to end");
  }
  if (needs_recovery(disk)) {
    if (!options.writes()) {
      throw Failure(Exit::No, "E0512", "an earlier run was cut off in '" + root.string() + "'",
                    "`openreg-gen generate` finishes it");
    }
    recover(disk);
  }
  const Manifest manifest = parse_manifest(disk.read(std::string(kManifest)));
  std::string text = read_spec(disk, manifest.spec);
  const fs::path shown = options.folder.empty()
                             ? fs::proximate(root / manifest.spec)
                             : fs::path(options.folder) / fs::proximate(root / manifest.spec, options.folder);
  auto inputs = read_inputs(text, shown, options.torch, options.json);
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
  const Rendering rendering = prepare(*inputs, data, manifest.spec);
  if (!edit && is_fresh(disk, manifest, rendering.next)) return show_fresh(options, root, manifest);

  Renderer renderer(data);
  std::vector<Rendered> renders = render(renderer, rendering);
  renders.push_back(spec_output(manifest.spec, std::move(text)));
  Plan plan = make_plan(disk, &manifest, std::move(renders), rendering.next);
  if (edit) write_spec(plan, manifest.spec);
  if (options.writes() && !plan.refused()) apply_plan(disk, plan);
  return show(options, root, plan, edited);
}

void add_generate_options(CLI::App& verb, const std::shared_ptr<GenerateOptions>& options) {
  verb.add_option("-C", options->folder, "The tree, or a folder in it; default: the one you stand in")
      ->type_name("DIR");
  verb.add_option("--torch", options->torch, "PyTorch to read the operators from; default: the active environment's")
      ->type_name("DIR");
  verb.add_flag("--dry-run", options->dry_run, "Say what would be done, and write nothing");
  verb.add_flag("--diff", options->diff, "Show what would be done as a diff, and write nothing");
  verb.add_flag("--json", options->json, "Print one JSON object");
}

void add_generate(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("generate", "Render a backend again from its own spec");
  auto options = std::make_shared<GenerateOptions>();
  add_generate_options(*verb, options);
  verb->add_flag("--check", options->check, "Write nothing; exit 1 and list the files if the tree is not up to date");
  verb->callback([options, &session] {
    session.json = options->json;
    session.action = [options] { return generate(*options); };
  });
}

}  // namespace openreg_gen
