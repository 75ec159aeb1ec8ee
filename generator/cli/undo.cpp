// openreg-gen undo: takes the last run's writes back.
#include "cli/cli.h"

#include "cli/open_tree.h"
#include "cli/plan_view.h"
#include "cli/usage.h"
#include "diag/render.h"
#include "tree/diff.h"
#include "tree/undo.h"

#include <fmt/format.h>
#include <unistd.h>

namespace openreg_gen {
namespace {

struct UndoOptions {
  std::string folder;
  bool dry_run = false, diff = false, json = false;
};

struct Word {
  const char *json, *text, *sgr;
};

Word word_of(LastRun::File::Back back) {
  switch (back) {
    case LastRun::File::Back::Restore:
      return {"restore", "restore", "36"};
    case LastRun::File::Back::Remove:
      return {"remove", "remove", "33"};
    case LastRun::File::Back::Bring:
      return {"bring_back", "create", "32"};
  }
  return {};
}

nlohmann::json to_json(const OpenTree& tree, const LastRun& run, bool done) {
  nlohmann::json files = nlohmann::json::array();
  for (const LastRun::File& file : run.files) {
    files.push_back({{"path", file.path}, {"action", word_of(file.back).json}, {"edited", file.edited}});
  }
  return {{"root", tree.root.string()}, {"run", run.what}, {"done", done}, {"files", std::move(files)}};
}

Exit refuse(const LastRun& run) {
  print_error("E0522", "files were edited since the last run; nothing was written", {});
  for (const LastRun::File& file : run.files) {
    if (file.edited) fmt::print(stderr, "  {}\n", file.path);
  }
  fmt::print(stderr, "hint: undo only takes back what is still as the run left it\n");
  return Exit::No;
}

Exit run(const UndoOptions& options) {
  const bool writes = !options.dry_run && !options.diff;
  const OpenTree tree = open_tree(options.folder, writes ? Access::Write : Access::Read);
  const auto last = last_run(*tree.disk);
  if (!last) {
    throw Failure(Exit::No, "E0531", "there is no run to take back in '" + tree.root.string() + "'",
                  "only the last run that wrote is remembered, and not the one that made the tree");
  }
  const bool colour = colour_wanted(STDOUT_FILENO);
  if (options.diff) {
    for (const LastRun::File& file : last->files) {
      const bool remove = file.back == LastRun::File::Back::Remove, bring = file.back == LastRun::File::Back::Bring;
      const std::string now = bring ? std::string() : tree.disk->read(file.path);
      fmt::print("{}", unified_diff(now, file.before, bring ? "/dev/null" : "a/" + file.path,
                                    remove ? "/dev/null" : "b/" + file.path, colour));
    }
    return last->edited() ? Exit::No : Exit::Done;
  }
  const bool done = writes && !last->edited();
  if (done) undo_last_run(*tree.disk);
  if (options.json) {
    fmt::print("{}\n", to_json(tree, *last, done).dump());
    return last->edited() ? Exit::No : Exit::Done;
  }
  if (last->edited()) return refuse(*last);
  for (const LastRun::File& file : last->files) {
    const Word word = word_of(file.back);
    fmt::print("  {}  {}\n", painted(fmt::format("{:8}", word.text), word.sgr, colour), file.path);
  }
  fmt::print("{} `{}`: {}{}\n", done ? "took back" : "nothing written; would take back", last->what,
             count_of(last->files.size(), "file"), done ? "; another `openreg-gen undo` does it again" : "");
  return Exit::Done;
}

}  // namespace

void add_undo(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("undo", "Take back what the last run wrote, if nobody edited it since");
  auto options = std::make_shared<UndoOptions>();
  verb->add_option("-C", options->folder, "The tree, or a folder in it; default: the one you stand in")
      ->type_name("DIR");
  CLI::Option* dry = verb->add_flag("--dry-run", options->dry_run, "Say what would be done, and write nothing");
  verb->add_flag("--diff", options->diff, "Show what would be done as a diff, and write nothing")->excludes(dry);
  verb->add_flag("--json", options->json, "Print one JSON object");
  verb->callback([options, &session] {
    session.json = options->json;
    session.action = [options] { return run(*options); };
  });
}

}  // namespace openreg_gen
