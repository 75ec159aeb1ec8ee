// openreg-gen own FILE..., disown FILE...: whose a file is.
#include "cli/cli.h"

#include "cli/generate.h"
#include "cli/open_tree.h"
#include "cli/plan_view.h"
#include "tree/apply.h"
#include "tree/own.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

struct OwnOptions {
  std::string folder, torch;
  std::vector<std::string> files;
  bool yes = false, json = false;
};

std::vector<std::string> in_tree(const OwnOptions& options, const OpenTree& tree) {
  std::vector<std::string> paths;
  for (const std::string& file : options.files) paths.push_back(path_in_tree(tree.root, file));
  return paths;
}

Exit own(const OwnOptions& options) {
  const OpenTree tree = open_tree(options.folder, Access::Write);
  const std::vector<std::string> paths = in_tree(options, tree);
  const Plan plan = own_plan(*tree.disk, tree.manifest, paths);
  apply_plan(*tree.disk, plan, "own");
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"root", tree.root.string()}, {"files", steps_json(plan)}}.dump());
    return Exit::Done;
  }
  for (const std::string& path : paths) {
    const bool already = find_file(tree.manifest, path)->file_class == FileClass::Owned;
    fmt::print("{}: {}\n", path, already ? "is yours already" : "yours from now on; openreg-gen never writes it again");
  }
  return Exit::Done;
}

Exit disown(const OwnOptions& options) {
  GenerateOptions generation;
  {
    const OpenTree tree = open_tree(options.folder, Access::Read);
    generation.disown = check_disown(tree.manifest, in_tree(options, tree));
  }
  generation.folder = options.folder;
  generation.torch = options.torch;
  generation.what = "disown";
  generation.json = options.json;
  generation.diff = !options.yes;
  const Exit exit = generate(generation);
  if (options.yes || exit != Exit::Done) return exit;
  if (!options.json)
    fmt::print("nothing written; `openreg-gen disown --yes` does this, and keeps a copy of what is replaced\n");
  return Exit::No;
}

CLI::App* add_verb(CLI::App& app, Session& session, const char* name, const char* about,
                   Exit (*action)(const OwnOptions&)) {
  CLI::App* verb = app.add_subcommand(name, about);
  auto options = std::make_shared<OwnOptions>();
  verb->add_option("FILE", options->files, "Files of the tree")->required();
  verb->add_option("-C", options->folder, "The tree, or a folder in it; default: the one you stand in")
      ->type_name("DIR");
  verb->add_flag("--json", options->json, "Print one JSON object");
  if (action == disown) {
    verb->add_option("--torch", options->torch, "PyTorch to read the operators from; default: the active environment's")
        ->type_name("DIR");
    verb->add_flag("-y,--yes,--force", options->yes, "Do it; without it the difference is shown");
  }
  verb->callback([options, action, &session] {
    session.json = options->json;
    session.action = [options, action] { return action(*options); };
  });
  return verb;
}

}  // namespace

void add_own(CLI::App& app, Session& session) {
  add_verb(app, session, "own", "Take a generated or shared file: it is yours, and never written again", own);
}

void add_disown(CLI::App& app, Session& session) {
  add_verb(app, session, "disown", "Give a file back that was taken with `own`: it is rendered or merged again",
           disown);
}

}  // namespace openreg_gen
