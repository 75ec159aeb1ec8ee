// openreg-gen generate: renders a tree again from its own spec.
#include "cli/generate.h"

#include "cli/next.h"
#include "base/text.h"
#include "cli/plan_view.h"
#include "cli/verb.h"
#include "diag/render.h"
#include "pipeline/rendering.h"
#include "tree/plan.h"
#include "tree/paths.h"

#include <unistd.h>

#include <algorithm>

namespace openreg_gen {
namespace {

std::string read_spec(const RealDisk& disk, const std::string& path) {
  check_inside(disk, path);
  if (disk.kind(path) == FileKind::None)
    throw Failure(Exit::BadInput, "E0511", "the tree's spec '" + path + "' is gone", "restore it from version control");
  return disk.kind(path) == FileKind::Folder ? std::string() : disk.read(path);
}

Exit show_fresh(const Invocation& call, const OpenTree& tree) {
  if (!call.put(nlohmann::json{{"root", tree.root.string()},
                               {"changed", false},
                               {"refused", false},
                               {"conflicts", false},
                               {"files", nlohmann::json::array()},
                               {"next", nlohmann::json::array()}}))
    fmt::print("up to date: {}\n", count_classes(tree.manifest));
  return Exit::Done;
}

Exit show(const Invocation& call, const GenerateOptions& options, const fs::path& root, const Plan& plan,
          const EditedSpec& edited) {
  const bool no = plan.refused() || plan.conflicts() || (options.check && !plan.clean());
  const Exit exit = no ? Exit::No : Exit::Done;
  Next next(call, root);
  if (options.writes() && !plan.refused()) next.after(plan, edited.ops);
  nlohmann::json report = edited.json;
  report.update({{"root", root.string()},
                 {"changed", plan.changes()},
                 {"refused", plan.refused()},
                 {"conflicts", plan.conflicts()},
                 {"files", steps_json(plan)},
                 {"next", next.lines()}});
  if (call.put(report)) return exit;
  const bool colour = colour_wanted(STDOUT_FILENO);
  if (options.diff) {
    print_text(plan_diff(plan, colour));
    return exit;
  }
  if (options.check) {
    print_text(call.github ? check_annotations(plan, next) : check_report(plan, colour));
    if (plan.clean()) fmt::print("up to date: {}\n", count_classes(plan.manifest));
  } else {
    if (!plan.refused()) print_text(edited.summary);
    print_text(steps_table(plan, colour));
    if (plan.refused()) {
      std::fflush(stdout);
      return print_refusal(plan);
    }
    const char* what = !plan.changes() ? "up to date" : options.writes() ? "rendered" : "nothing written; would be";
    if (!plan.conflicts()) fmt::print("{}: {}\n", what, count_classes(plan.manifest));
  }
  if (!call.github) fmt::print("{}{}", signature_report(plan, colour), conflict_report(plan, colour));
  print_text(next.text());
  return exit;
}

void declare(CLI::App& app, Invocation& call, GenerateOptions& options) {
  options.add_to(app, call);
  app.add_flag("--check", options.check, "Write nothing; exit 1 and list the files if the tree is not up to date")
      ->excludes("--dry-run")
      ->excludes("--diff");
  call.add_error_format(app)->needs("--check");
}

Exit run(Invocation& call, const GenerateOptions& options) { return generate(call, options); }

}  // namespace

Exit generate(Invocation& call, const GenerateOptions& options, const EditSpec& edit,
              const std::vector<std::string_view>& fixes) {
  OpenTree tree = call.tree(options.writes() ? Access::Write : Access::Read);
  RealDisk& disk = *tree.disk;
  const Manifest& manifest = tree.manifest;
  PlanOptions how;
  how.force = options.force;
  how.side = options.ours ? MergeSide::Ours : options.theirs ? MergeSide::Theirs : MergeSide::Markers;
  how.disown = {options.disown.begin(), options.disown.end()};

  const std::string on_disk = read_spec(disk, manifest.spec);
  std::string text = on_disk;
  Diagnostics diagnostics;
  Spec parsed = parse_spec_text(text, Next(call, tree.root).file(manifest.spec), diagnostics);
  const bool fixable = diagnostics.has_errors() && std::ranges::all_of(diagnostics.all(), [&](const Diagnostic& each) {
                         return each.severity != Severity::Error || contains(fixes, each.code);
                       });
  auto resolved = fixable ? std::optional(resolve(std::move(parsed), call.catalog(), diagnostics))
                          : call.valid(std::move(parsed), diagnostics);
  if (!resolved) return Exit::BadInput;
  EditedSpec edited;
  if (edit) {
    auto done = edit(*resolved);
    if (!done) return Exit::BadInput;
    edited = std::move(*done);
    text = edited.text;
    Diagnostics again;  // its warnings have been printed
    parsed = parse_spec_text(text, resolved->spec.path, again);
    resolved.emplace(resolve(std::move(parsed), call.catalog(), again));
    call.said_of(on_disk, text);
    if (call.report_errors(again, resolved->spec)) return Exit::BadInput;
  }

  const DataDir data = find_data();
  Rendering rendering = prepare(*resolved, data, manifest.spec);
  if (!edit && how.disown.empty() && is_fresh(disk, manifest, rendering.next)) return show_fresh(call, tree);

  add_outputs(rendering, *resolved, data);
  Renderer renderer(data);
  std::vector<RenderedFile> renders = render(renderer, rendering, std::move(text));
  if (edit) renders.back().replaces = on_disk;
  const Plan plan = make_plan(disk, &manifest, std::move(renders), rendering.next, how);
  if (options.writes() && !plan.refused()) apply_plan(disk, plan, options.what);
  return show(call, options, tree.root, plan, edited);
}

void GenerateOptions::add_to(CLI::App& verb, Invocation& call) {
  call.add_tree(verb);
  call.add_torch(verb);
  Preview::add_to(verb);
  CLI::Option* mine = verb.add_flag("--ours", ours, "In a conflict, keep your lines");
  verb.add_flag("--theirs", theirs, "In a conflict, take the new render's lines; a copy of your file is kept")
      ->excludes(mine);
  verb.add_flag("--force", force, "Replace files that are in the way; copies go to .openreg-gen/backup");
  call.add_json(verb);
}

Verb generate_verb() {
  return {"generate",
          "Render a backend again from its spec",
          with_options<GenerateOptions>(declare, run),
          {"generate -C torch_mybackend --diff", "generate --check", "generate --check --error-format github"}};
}

}  // namespace openreg_gen
