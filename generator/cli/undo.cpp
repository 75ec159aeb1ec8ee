// openreg-gen undo: reverts the last run.
#include "tree/undo.h"

#include "cli/next.h"
#include "cli/terminal_text.h"
#include "cli/answer.h"
#include "cli/verb.h"
#include "diag/render.h"
#include "tree/diff.h"

#include <unistd.h>

namespace openreg_gen {
namespace {

void declare(CLI::App& app, Invocation& call, Preview& preview) {
  call.add_tree(app);
  preview.add_to(app);
  call.add_json(app);
}

struct Word {
  const char *json, *text, *sgr;
};

Word word_of(LastRun::File::Back back) {
  constexpr Word kWords[] = {{"restore", "restore", "36"}, {"remove", "remove", "33"}, {"bring_back", "create", "32"}};
  return kWords[static_cast<std::size_t>(back)];
}

nlohmann::json to_json(const OpenTree& tree, const LastRun& run, bool done, const Next& next) {
  nlohmann::json files = nlohmann::json::array();
  for (const LastRun::File& file : run.files)
    files.push_back({{"path", file.path}, {"action", word_of(file.back).json}, {"edited", file.edited}});
  return {{"root", tree.root.string()},
          {"run", run.what},
          {"done", done},
          {"files", std::move(files)},
          {"next", next.lines()}};
}

Exit refuse(const LastRun& run) {
  print_error("E0522", "files were edited since the last run; nothing was written", {});
  for (const LastRun::File& file : run.files)
    if (file.edited) fmt::print(stderr, "  {}\n", file.path);
  fmt::print(stderr, "hint: undo only works while the files are as the run left them\n");
  return Exit::No;
}

Exit run(Invocation& call, const Preview& preview) {
  const OpenTree tree = call.tree(preview.writes() ? Access::Write : Access::Read);
  const auto last = last_run(*tree.disk);
  if (!last) {
    throw Failure(Exit::No, "E0531", "there is no run to undo in '" + tree.root.string() + "'",
                  "only the last run that changed files is remembered, and never the `new` that created the tree");
  }
  const bool colour = colour_wanted(STDOUT_FILENO);
  if (preview.diff) {
    for (const LastRun::File& file : last->files) {
      const bool remove = file.back == LastRun::File::Back::Remove, bring = file.back == LastRun::File::Back::Bring;
      const std::string now = bring ? std::string() : tree.disk->read(file.path);
      print_text(unified_diff(now, file.before, bring ? "/dev/null" : "a/" + file.path,
                              remove ? "/dev/null" : "b/" + file.path, colour));
    }
    return last->edited() ? Exit::No : Exit::Done;
  }
  const bool done = preview.writes() && !last->edited();
  Next next(call, tree.root);
  if (done) {
    undo_last_run(*tree.disk);
    if (last->what != "own" && last->what != "undo of own") {  // which changes one comment
      next.build();
      next.test();
    }
  }
  if (call.put(to_json(tree, *last, done, next))) return last->edited() ? Exit::No : Exit::Done;
  if (last->edited()) return refuse(*last);
  for (const LastRun::File& file : last->files) {
    const Word word = word_of(file.back);
    fmt::print("  {}  {}\n", painted(fmt::format("{:8}", word.text), word.sgr, colour), file.path);
  }
  // An undo of an undo brings the run back, so say that.
  constexpr std::string_view kUndone = "undo of ";
  const bool again = last->what.starts_with(kUndone);
  const std::string what = again ? last->what.substr(kUndone.size()) : last->what;
  const char* verb =
      again ? (done ? "redid" : "nothing written; would redo") : (done ? "undid" : "nothing written; would undo");
  fmt::print("{} `{}`: {}{}\n", verb, what, count_of(last->files.size(), "file"),
             done ? fmt::format("; run `openreg-gen undo` again to {}", again ? "undo it" : "redo it") : "");
  print_text(next.text());
  return Exit::Done;
}

}  // namespace

Verb undo_verb() {
  return {"undo",
          "Undo the last run, if nobody has edited its files since",
          with_options<Preview>(declare, run),
          {"undo --diff", "undo"}};
}

}  // namespace openreg_gen
