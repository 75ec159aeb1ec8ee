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

/// What else takes the run back, or how the files come to be as it left them.
std::string way_out(const LastRun& run) {
  const std::string keep =
      "or keep a copy of these files, put them back as the run left them, and undo; `openreg-gen undo --diff` shows "
      "what "
      "it would change";
  const auto reverse = [&](const std::string& commands) {
    return fmt::format("{} takes it back and keeps your edits; {}", commands, keep);
  };
  if (run.what == "add") return reverse("`openreg-gen remove OP`, or `remove component NAME`,");
  if (run.what == "remove") return reverse("`openreg-gen add OP`, or `add component NAME`,");
  if (run.what == "own") return reverse("`openreg-gen disown FILE`");
  if (run.what == "disown") return reverse("`openreg-gen own FILE`");
  if (run.what == "generate") return reverse("the spec as it was, and `openreg-gen generate`,");
  return keep.substr(3);
}

nlohmann::json to_json(const OpenTree& tree, const LastRun& run, bool done, const Next& next) {
  nlohmann::json files = nlohmann::json::array();
  for (const LastRun::File& file : run.files)
    files.push_back({{"path", file.path}, {"action", word_of(file.back).json}, {"edited", file.edited}});
  return {
      {"root", tree.root.string()}, {"run", run.what},     {"done", done}, {"hint", run.edited() ? way_out(run) : ""},
      {"files", std::move(files)},  {"next", next.lines()}};
}

Exit refuse(const LastRun& run) {
  print_error("E0522", "files were edited since the last run; nothing was written", {});
  for (const LastRun::File& file : run.files)
    if (file.edited) fmt::print(stderr, "  {}\n", file.path);
  fmt::print(stderr, "hint: {}\n", way_out(run));
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
