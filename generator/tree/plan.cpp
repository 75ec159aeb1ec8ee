#include "tree/plan.h"

#include "base/text.h"
#include "system/sha256.h"
#include "tree/decide.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace {

void finish(const Disk& disk, Plan& plan) {
  std::ranges::stable_sort(plan.steps, [](const Step& a, const Step& b) { return a.path < b.path; });
  const std::string ignored = ".openreg-gen/backup/.gitignore";
  const bool backups = std::ranges::any_of(plan.steps, [](const Step& s) { return !s.backup.empty(); });
  if (backups && disk.kind(ignored) == FileKind::None) plan.state.push_back({ignored, "*\n"});
  std::string text = manifest_text(plan.manifest);
  const std::string path(kManifest);
  if (disk.kind(path) != FileKind::File || disk.read(path) != text) plan.state.push_back({path, std::move(text)});
}

}  // namespace

Action Step::action() const {
  if (replaced) return Action::Update;
  const Action action = row_of(verdict).action;
  return (action == Action::Update || action == Action::Merge) && before == after ? Action::Keep : action;
}

std::string Step::reason() const {
  std::string text(row_of(verdict).text);
  replace_all(text, "{}", detail);
  return replaced ? text + "; replaced" : text;
}

bool Step::writes() const {
  constexpr Action kWrites[] = {Action::Create, Action::Update, Action::Merge, Action::Remove};
  return contains(kWrites, action()) || (action() == Action::Conflict && before != after);
}

bool Plan::refused() const {
  return std::ranges::any_of(steps, [](const Step& step) { return step.action() == Action::Refuse; });
}

bool Plan::conflicts() const {
  return std::ranges::any_of(steps, [](const Step& step) { return step.action() == Action::Conflict; });
}

bool Plan::changes() const {
  return !state.empty() || std::ranges::any_of(steps, [](const Step& step) { return step.writes(); });
}

bool Plan::worth_undoing() const {
  return std::ranges::any_of(steps, [](const Step& step) {
    return step.writes() || step.verdict == Verdict::Taken || step.verdict == Verdict::GivenBack;
  });
}

bool Plan::clean() const {
  return !changes() && std::ranges::all_of(steps, [](const Step& step) {
    return step.finding() == Finding::Fine && step.action() != Action::Refuse;
  });
}

Plan make_plan(const Disk& disk, const Manifest* old, std::vector<RenderedFile> renders, Manifest next,
               const PlanOptions& options) {
  std::vector<std::string> paths;
  for (const RenderedFile& render : renders) paths.push_back(render.output.path);
  check_paths(paths);
  check_inside(disk, std::string(kStateFolder));
  check_inside(disk, std::string(kManifest));

  Plan plan;
  plan.manifest = std::move(next);
  Decider decider(disk, old, options);
  for (RenderedFile& render : renders) decider.add(render, plan);
  if (old) {
    std::vector<std::pair<std::string, const ManifestFile*>> gone;
    for (const auto& [path, file] : old->files)
      if (!plan.manifest.files.contains(path)) gone.emplace_back(path, &file);
    std::stable_partition(gone.begin(), gone.end(),
                          [](const auto& entry) { return entry.second->file_class == FileClass::Owned; });
    for (const auto& [path, file] : gone) decider.drop(path, *file, plan);
  }
  finish(disk, plan);
  return plan;
}

bool is_fresh(const Disk& disk, const Manifest& manifest, const Manifest& next) {
  if (manifest.inputs != next.inputs || manifest.tool != next.tool || manifest.torch != next.torch ||
      manifest.spec != next.spec) {
    return false;
  }
  std::string checked = ".";  // files are sorted, so that each folder is looked at about once
  for (const auto& [rendered_as, file] : manifest.files) {
    const std::string& path = file.at.empty() ? rendered_as : file.at;
    if (!file.wanted.empty()) return false;
    if (file.taken()) continue;
    if (std::string folder = folder_of(path); folder != checked) {
      if (!disk.inside(folder)) return false;
      checked = std::move(folder);
    }
    const FileKind kind = disk.kind(path);
    if (kind != FileKind::File && (kind != FileKind::Symlink || file.file_class != FileClass::Owned)) return false;
    if (manifest.is_left(rendered_as)) continue;
    const bool lacks_render = file.file_class == FileClass::Owned && !file.render.empty() && file.render != file.sha256;
    if (lacks_render && kind == FileKind::File && sha256(disk.read(path)) == file.sha256) return false;
    if (file.file_class == FileClass::Generated && sha256(disk.read(path)) != file.sha256) return false;
    if (file.file_class == FileClass::Shared &&
        (disk.kind(pristine_path(path)) != FileKind::File || !conflict_lines(disk.read(path)).empty())) {
      return false;
    }
  }
  return true;
}

}  // namespace openreg_gen
