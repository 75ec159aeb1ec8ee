// openreg-gen disown FILE...: undoes `own`.
#include "cli/generate.h"
#include "cli/next.h"
#include "cli/verb.h"
#include "base/text.h"
#include "tree/own.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

struct DisownOptions {
  std::vector<std::string> files;
  bool yes = false;
};

void declare(CLI::App& app, Invocation& call, DisownOptions& options) {
  app.add_option("FILE", options.files, "Files of the tree")->required();
  call.add_tree(app);
  call.add_json(app);
  call.add_torch(app);
  app.add_flag("-y,--yes", options.yes, "Do it; without this flag, only show the difference");
}

Exit run(Invocation& call, const DisownOptions& options) {
  GenerateOptions generation;
  fs::path root;
  {
    const OpenTree tree = call.tree(Access::Read);
    root = tree.root;
    generation.disown = check_disown(tree.manifest, paths_in_tree(tree.root, options.files));
  }
  generation.what = "disown";
  generation.diff = !options.yes;
  const Exit exit = generate(call, generation);
  if (options.yes || exit != Exit::Done) return exit;
  Next next(call, root);
  next.command(fmt::format("disown --yes {}", fmt::join(mapped(options.files, shell_quoted), " ")));
  if (!call.json) fmt::print("nothing written; to replace the file, keeping a copy:\n{}", next.text());
  return Exit::No;
}

}  // namespace

Verb disown_verb() {
  return {"disown",
          "Hand a file that you took with `own` back to openreg-gen",
          with_options<DisownOptions>(declare, run),
          {"disown setup.py", "disown setup.py --yes"},
          {},
          {{"--force", "--yes"}}};
}

}  // namespace openreg_gen
