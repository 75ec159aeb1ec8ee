// openreg-gen status: the state of a tree, without rendering.
#include "tree/status.h"

#include "cli/plan_view.h"
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "diag/render.h"
#include "pipeline/rendering.h"
#include "pipeline/templates.h"
#include "tree/undo.h"
#include "tree/unused.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <functional>

namespace openreg_gen {
namespace {

struct StatusOptions {};  // none but the shared ones

void declare(CLI::App& app, Invocation& call, StatusOptions&) {
  call.add_tree(app);
  call.add_torch(app, "PyTorch to compare with; default: the active environment's");
  call.add_json(app);
}

struct Freshness {
  enum State { Fresh, Stale, Unknown } state = Unknown;
  std::string why;
};
constexpr const char* kStates[] = {"fresh", "stale", "unknown"};

/// Whether a render would be of the same inputs as the last one.
Freshness freshness(Invocation& call, const OpenTree& tree) {
  const std::string& path = tree.manifest.spec;
  if (tree.disk->kind(path) != FileKind::File) return {Freshness::Unknown, "the spec is gone"};
  try {
    Diagnostics diagnostics;
    Spec spec = parse_spec_text(tree.disk->read(path), tree.root / path, diagnostics);
    const ResolvedSpec resolved = resolve(std::move(spec), call.catalog(), diagnostics);
    if (diagnostics.has_errors()) return {Freshness::Unknown, "the spec has errors: `openreg-gen check " + path + "`"};
    const Manifest next = prepare(resolved, find_data(), path).next;
    if (next.tool != tree.manifest.tool) return {Freshness::Stale, "another openreg-gen, " + next.tool};
    if (next.torch != tree.manifest.torch) return {Freshness::Stale, "another PyTorch, " + next.torch};
    if (next.inputs != tree.manifest.inputs) return {Freshness::Stale, "the spec or the templates changed"};
    return {Freshness::Fresh, {}};
  } catch (const Failure& failure) {
    return {Freshness::Unknown, failure.what()};
  }
}

struct Topic {
  const char *key, *title;
  std::function<bool(const FileStatus&)> concerns;
  std::function<std::string(const FileStatus&)> note{};  // none: there is nothing to add
};

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all{
      {"conflicts", "Conflicts to resolve", [](const FileStatus& f) { return !f.markers.empty(); },
       [](const FileStatus& f) { return fmt::format("line {}", fmt::join(f.markers, ", ")); }},
      {"drifted", "Kernels with an old signature", [](const FileStatus& f) { return !f.wanted.empty() && f.read; },
       [](const FileStatus& f) { return fmt::format("line {}: should be {}", f.line, f.wanted); }},
      {"unread", "Kernels to compare with their signature, which openreg-gen can't do",
       [](const FileStatus& f) { return !f.wanted.empty() && !f.read; },
       [](const FileStatus& f) { return "should be " + f.wanted; }},
      {"missing", "Missing", [](const FileStatus& f) { return f.missing && !f.taken() && !f.left; }},
      {"edited_generated", "Generated, but edited: `generate` will refuse",
       [](const FileStatus& f) { return f.edited && f.file_class == FileClass::Generated && !f.left; },
       [](const FileStatus& f) { return fmt::format("`{}` in the spec controls it", f.key); }},
      {"edited_shared", "Shared, with your edits",
       [](const FileStatus& f) { return f.edited && f.file_class == FileClass::Shared && !f.left; }},
      {"taken", "Taken with `own`", [](const FileStatus& f) { return f.taken() && !f.template_name.empty(); },
       [](const FileStatus& f) { return f.missing ? "missing, and never written" : ""; }},
      {"written", "Owned, with your code",
       [](const FileStatus& f) { return f.edited && f.file_class == FileClass::Owned && !f.taken() && !f.left; }},
      {"moved", "Moved by you", [](const FileStatus& f) { return f.path != f.rendered_as; },
       [](const FileStatus& f) { return "from " + f.rendered_as; }},
      {"left", "Kept, though the spec no longer needs it", [](const FileStatus& f) { return f.left && !f.missing; }},
  };
  return all;
}

/// What `generate --check` would find besides; empty if nothing.
std::string work_left(const std::vector<FileStatus>& files) {
  const auto count = [&](const char* key) {
    const auto topic =
        std::ranges::find(topics(), std::string_view(key), [](const Topic& t) { return std::string_view(t.key); });
    return static_cast<std::size_t>(std::ranges::count_if(files, topic->concerns));
  };
  std::vector<std::string> left;
  if (const auto n = count("edited_generated")) left.push_back(count_of(n, "generated file") + " edited");
  if (const auto n = count("missing")) left.push_back(count_of(n, "file") + " missing");
  if (const auto n = count("conflicts")) left.push_back(count_of(n, "file") + " with conflicts");
  return fmt::format("{}", fmt::join(left, ", "));
}

/// Files that serve no operator.
std::vector<std::string> unused(const OpenTree& tree) {
  std::set<std::string> linked;
  for (const TemplateRow& row : read_templates(find_data()).rows)
    if (row.slots.contains("defines")) linked.insert(row.template_name);
  return unused_files(*tree.disk, tree.manifest, linked);
}

nlohmann::json to_json(const OpenTree& tree, const std::vector<FileStatus>& files, const Freshness& fresh,
                       const std::optional<LastRun>& last) {
  nlohmann::json out{{"root", tree.root.string()}, {"spec", tree.manifest.spec},
                     {"tool", tree.manifest.tool}, {"torch", tree.manifest.torch},
                     {"files", files.size()},      {"state", kStates[fresh.state]},
                     {"why", fresh.why},           {"undo", nullptr}};
  for (const Topic& topic : topics()) {
    out[topic.key] = nlohmann::json::array();
    for (const FileStatus& file : files) {
      if (!topic.concerns(file)) continue;
      nlohmann::json entry{{"path", file.path}, {"class", to_string(file.file_class)}};
      if (file.path != file.rendered_as) entry["rendered_as"] = file.rendered_as;
      if (!file.markers.empty()) entry["lines"] = file.markers;
      if (!file.wanted.empty())
        entry["signature"] = {{"line", file.line}, {"was", file.signature}, {"now", file.wanted}};
      out[topic.key].push_back(std::move(entry));
    }
  }
  out["unused"] = unused(tree);
  if (last) out["undo"] = {{"run", last->what}, {"files", last->files.size()}, {"possible", !last->edited()}};
  return out;
}

Exit run(Invocation& call, const StatusOptions&) {
  const OpenTree tree = call.tree(Access::Read);
  const std::vector<FileStatus> files = file_statuses(*tree.disk, tree.manifest);
  const Freshness fresh = freshness(call, tree);
  const auto last = last_run(*tree.disk);
  if (call.put(to_json(tree, files, fresh, last))) return Exit::Done;
  const bool colour = colour_wanted(STDOUT_FILENO);
  const auto row = [colour](const char* name, const std::string& text) {
    fmt::print("{}  {}\n", painted(fmt::format("{:7}", name), "2", colour), text);
  };
  std::vector<std::string> state;
  if (fresh.state == Freshness::Stale) state.push_back("stale: " + fresh.why + "; run `openreg-gen generate`");
  if (fresh.state == Freshness::Unknown) state.push_back("not known: " + fresh.why);
  if (std::string left = work_left(files); !left.empty()) state.push_back(std::move(left));
  row("Tree", tree.root.string());
  row("Spec", tree.manifest.spec);
  row("Written", fmt::format("by openreg-gen {} for {}", tree.manifest.tool, tree.manifest.torch));
  row("Files", count_classes(tree.manifest));
  row("State", painted(state.empty() ? "up to date" : fmt::format("{}", fmt::join(state, "; ")),
                       state.empty() ? "32" : "33", colour));
  if (last) {
    row("Undo", fmt::format("`{}`, {}{}", last->what, count_of(last->files.size(), "file"),
                            last->edited() ? "; not possible: files were edited since" : ""));
  }
  for (const Topic& topic : topics()) {
    std::vector<std::vector<std::string>> rows;
    for (const FileStatus& file : files)
      if (topic.concerns(file)) rows.push_back({"  " + file.path, topic.note ? topic.note(file) : ""});
    if (rows.empty()) continue;
    fmt::print("\n{} ({})\n{}", painted(topic.title, "1", colour), rows.size(),
               layout_table(rows, 0, std::string::npos));
  }
  if (const std::vector<std::string> files_left = unused(tree); !files_left.empty()) {
    fmt::print("\n{} ({})\n", painted("Serve no operator", "1", colour), files_left.size());
    for (const std::string& path : files_left) fmt::print("  {}\n", path);
    fmt::print(
        "Delete those that you don't want, then run `openreg-gen own` with their names: no run writes them again.\n");
  }
  return Exit::Done;
}

}  // namespace

Verb status_verb() {
  return {"status",
          "Show edited, moved, owned, conflicting and unused files, and what `undo` would do",
          with_options<StatusOptions>(declare, run),
          {"status -C torch_mybackend"}};
}

}  // namespace openreg_gen
