// openreg-gen migrate [FILE...]: rewrites kernels of yours whose signature changed with a release of PyTorch.
#include "tree/migrate.h"

#include "base/text.h"
#include "cli/next.h"
#include "cli/plan_view.h"
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "diag/render.h"
#include "tree/paths.h"
#include "tree/plan.h"
#include "tree/status.h"

#include <unistd.h>

#include <map>

namespace openreg_gen {
namespace {

struct MigrateOptions {
  std::vector<std::string> files;
  bool yes = false;
};

void declare(CLI::App& app, Invocation& call, MigrateOptions& options) {
  app.add_option("FILE", options.files, "Your kernels; default: all whose signature changed");
  call.add_tree(app);
  call.add_torch(app, "PyTorch that the tree was last rendered for; default: the active environment's");
  call.add_json(app);
  app.add_flag("-y,--yes", options.yes, "Write them; without this flag, only show the difference");
}

struct Kernel {
  FileStatus status;
  std::string before;  // with the kernels before it in the file rewritten
  Migration migration;
  bool unread() const { return !status.read; }
  bool rewritten() const { return !unread() && migration.refused.empty(); }
};

/// A kernel that raises an error unless a parameter has the default of an earlier release.
struct OutdatedDefault {
  std::string path;
  OldDefault check;
};

bool is_kernel(const ManifestFile& file) {
  return file.file_class == FileClass::Owned && !(file.signature.empty() && file.wanted.empty());
}

std::string op_of(const ManifestFile& file) { return file.id.starts_with("aten::") ? file.id.substr(6) : file.id; }

/// Reads the defaults of an operator's schema; of custom operators, whose schema is the owner's, it knows none.
IsDefault defaults_of(const Catalog& catalog, const std::string& id) {
  return [op = catalog.find(id)](const std::string& parameter) -> std::string {
    const Argument* argument = op == nullptr ? nullptr : find_by(op->arguments, parameter, &Argument::name);
    if (argument == nullptr) return {};
    return equals_default(argument->schema_type, argument->default_value, parameter);
  };
}

std::vector<Kernel> outdated(Invocation& call, const OpenTree& tree, const std::vector<std::string>& paths) {
  const Catalog& catalog = call.catalog();
  if (catalog.identity() != tree.manifest.torch) {
    throw Failure(Exit::No, "E0533",
                  fmt::format("the tree was last rendered for {}, not for {}", tree.manifest.torch, catalog.identity()),
                  "run `openreg-gen generate` first, or name the other PyTorch with --torch");
  }
  std::vector<Kernel> out;
  for (FileStatus& status : file_statuses(*tree.disk, tree.manifest)) {
    const bool asked = paths.empty() || std::ranges::find(paths, status.path) != paths.end();
    if (!asked || status.wanted.empty() || status.missing) continue;
    out.push_back({std::move(status), {}, {}});
  }
  std::map<std::string, std::string> texts;  // of files with several kernels, each is rewritten after the other
  for (Kernel& kernel : out) {
    const FileStatus& status = kernel.status;
    std::string& text = texts.try_emplace(status.path, tree.disk->read(status.path)).first->second;
    kernel.before = text;
    if (kernel.unread()) continue;
    kernel.migration =
        migrate_kernel(text, status.signature, status.wanted, op_of(status), defaults_of(catalog, status.id));
    if (kernel.rewritten()) text = kernel.migration.text;
  }
  return out;
}

std::vector<OutdatedDefault> outdated_defaults(Invocation& call, const OpenTree& tree,
                                               const std::vector<std::string>& paths) {
  std::vector<OutdatedDefault> out;
  for (const FileStatus& status : file_statuses(*tree.disk, tree.manifest)) {
    const bool asked = paths.empty() || std::ranges::find(paths, status.path) != paths.end();
    if (!asked || status.missing || status.left || !is_kernel(status) || !call.catalog().find(status.id)) continue;
    for (OldDefault& check :
         old_defaults(tree.disk->read(status.path), op_of(status), defaults_of(call.catalog(), status.id)))
      out.push_back({status.path, std::move(check)});
  }
  return out;
}

Plan plan_of(const OpenTree& tree, const std::vector<Kernel>& kernels) {
  Plan plan;
  plan.manifest = tree.manifest;
  for (const Kernel& kernel : kernels) {
    if (!kernel.rewritten()) continue;
    ManifestFile& file = plan.manifest.files.at(kernel.status.rendered_as);
    file.signature = std::exchange(file.wanted, {});
    if (const auto earlier = std::ranges::find(plan.steps, kernel.status.path, &Step::path);
        earlier != plan.steps.end()) {
      earlier->after = kernel.migration.text;
      continue;
    }
    Step step;
    step.path = kernel.status.path;
    step.file_class = FileClass::Owned;
    step.key = file.key;
    step.before = kernel.before;
    step.after = kernel.migration.text;
    step.verdict = Verdict::AsAsked;
    plan.steps.push_back(std::move(step));
  }
  if (plan.manifest != tree.manifest) plan.state.push_back({std::string(kManifest), manifest_text(plan.manifest)});
  return plan;
}

constexpr const char* kUnread = "openreg-gen can't read which signature it has: compare it";

nlohmann::json to_json(const std::vector<Kernel>& kernels) {
  nlohmann::json out = nlohmann::json::array();
  for (const Kernel& kernel : kernels) {
    const bool refused = !kernel.rewritten();
    nlohmann::json file{{"path", kernel.status.path},
                        {"line", kernel.status.line},
                        {"was", kernel.status.signature},
                        {"now", kernel.status.wanted},
                        {"migrated", !refused}};
    if (refused)
      file["refused"] = kernel.unread() ? kUnread : kernel.migration.refused;
    else
      file["changes"] = kernel.migration.changes;
    out.push_back(std::move(file));
  }
  return out;
}

void show(const std::vector<Kernel>& kernels, const Plan& plan, const Next& next, bool colour) {
  print_text(plan_diff(plan, colour));
  for (const Kernel& kernel : kernels) {
    const Migration& migration = kernel.migration;
    const std::string place = fmt::format("{}:{}", next.file(kernel.status.path), kernel.status.line);
    if (kernel.unread()) {
      fmt::print("{}: {}\n    {}  {}\n", painted(place, "1", colour), kUnread, painted("now", "32", colour),
                 kernel.status.wanted);
    } else if (migration.refused.empty()) {
      fmt::print("{}\n", painted(place, "1", colour));
      for (const std::string& change : migration.changes) fmt::print("    {}\n", change);
    } else {
      fmt::print("{}: yours to rewrite: {}\n    {}  {}\n    {}  {}\n", painted(place, "1", colour), migration.refused,
                 painted("was", "31", colour), kernel.status.signature, painted("now", "32", colour),
                 kernel.status.wanted);
    }
  }
}

Exit run(Invocation& call, const MigrateOptions& options) {
  const OpenTree tree = call.tree(options.yes ? Access::Write : Access::Read);
  const std::vector<std::string> paths = paths_in_tree(tree.root, options.files);
  for (const std::string& path : paths) {
    const ManifestFile* file = find_file(tree.manifest, path);
    if (file == nullptr || !is_kernel(*file)) {
      throw Failure(Exit::BadInput, "E0530", "'" + path + "' is not a kernel of yours",
                    "`openreg-gen status` shows the files of the tree");
    }
  }
  const std::vector<Kernel> kernels = outdated(call, tree, paths);
  const std::vector<OutdatedDefault> defaults = outdated_defaults(call, tree, paths);
  const Plan plan = plan_of(tree, kernels);
  const auto count = [&](auto which) { return static_cast<std::size_t>(std::ranges::count_if(kernels, which)); };
  const std::size_t rewritten = count(&Kernel::rewritten);
  const bool written = options.yes && !plan.steps.empty();
  if (written) apply_plan(*tree.disk, plan, "migrate");

  Next next(call, tree.root);
  if (!plan.steps.empty() && !options.yes) {
    std::string words = "migrate --yes";
    for (const std::string& file : options.files) words += " " + shell_quoted(file);
    next.command(words);
  }
  for (const Kernel& kernel : kernels)
    if (!kernel.rewritten() && !kernel.unread())
      next.add(fmt::format("edit {}:{}", next.file(kernel.status.path), kernel.status.line));
  for (const OutdatedDefault& each : defaults)
    next.add(fmt::format("edit {}:{}", next.file(each.path), each.check.line));
  if (written) {
    next.build();
    next.test();
  }
  const std::size_t left = kernels.size() - count(&Kernel::unread) - (written ? rewritten : 0) + defaults.size();
  const Exit exit = left == 0 ? Exit::Done : Exit::No;
  nlohmann::json old = nlohmann::json::array();
  for (const auto& [path, check] : defaults)
    old.push_back({{"path", path}, {"line", check.line}, {"parameter", check.parameter}});
  if (call.put(nlohmann::json{{"root", tree.root.string()},
                              {"written", written},
                              {"files", to_json(kernels)},
                              {"old_defaults", std::move(old)},
                              {"next", next.lines()}}))
    return exit;
  show(kernels, plan, next, colour_wanted(STDOUT_FILENO));
  for (const auto& [path, check] : defaults)
    fmt::print("{}: yours to rewrite: '{}' has another default in PyTorch {}, and each call with it raises an error\n",
               painted(fmt::format("{}:{}", next.file(path), check.line), "1", colour_wanted(STDOUT_FILENO)),
               check.parameter, call.catalog().torch_version());
  if (kernels.empty() && defaults.empty()) {
    fmt::print("nothing to migrate: each kernel of yours has the signature that PyTorch {} calls\n",
               call.catalog().torch_version());
  } else if (written) {
    fmt::print("rewrote {}; `openreg-gen undo` takes it back\n", count_of(rewritten, "kernel"));
  } else if (!plan.steps.empty()) {
    fmt::print("nothing written; {} can be rewritten\n", count_of(rewritten, "kernel"));
  }
  print_text(next.text());
  return exit;
}

}  // namespace

Verb migrate_verb() {
  return {"migrate",
          "Rewrite kernels of yours whose signature changed with a release of PyTorch",
          with_options<MigrateOptions>(declare, run),
          {"migrate", "migrate --yes", "migrate csrc/aten/native/relu.cpp --yes"}};
}

}  // namespace openreg_gen
