// openreg-gen own FILE...: makes files yours.
#include "tree/own.h"

#include "cli/next.h"
#include "cli/plan_view.h"
#include "cli/verb.h"
#include "tree/plan.h"

namespace openreg_gen {
namespace {

struct OwnOptions {
  std::vector<std::string> files;
};

void declare(CLI::App& app, Invocation& call, OwnOptions& options) {
  app.add_option("FILE", options.files, "Files that openreg-gen wrote (deleted ones, too), folders, or quoted patterns")
      ->required();
  call.add_tree(app);
  call.add_json(app);
}

Exit run(Invocation& call, const OwnOptions& options) {
  const OpenTree tree = call.tree(Access::Write);
  const std::vector<std::string> paths = paths_in_tree(tree.root, options.files);
  const Plan plan = own_plan(*tree.disk, tree.manifest, paths);
  apply_plan(*tree.disk, plan, "own");
  Next next(call, tree.root);
  for (const std::string& path : paths)
    if (!plan.steps.empty()) next.add("edit " + next.file(path));
  if (call.put(nlohmann::json{{"root", tree.root.string()}, {"files", steps_json(plan)}, {"next", next.lines()}}))
    return Exit::Done;
  for (const Step& step : plan.steps) fmt::print("{}: yours from now on; openreg-gen never writes it\n", step.path);
  if (plan.steps.empty()) fmt::print("nothing to do: it is yours already\n");
  print_text(next.text());
  return Exit::Done;
}

}  // namespace

Verb own_verb() {
  return {"own",
          "Make a generated or shared file yours: openreg-gen never writes it again",
          with_options<OwnOptions>(declare, run),
          {"own setup.py", "own 'examples/*'"}};
}

}  // namespace openreg_gen
