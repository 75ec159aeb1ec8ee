#include "tree/plan.h"

#include "render/sha256.h"
#include "tree/paths.h"

#include <algorithm>
#include <map>

namespace openreg_gen {
namespace {

std::string pristine_path(const std::string& path) { return std::string(kPristine) + path; }

/// Empty, or what stands where a folder of `path` has to be.
std::string obstacle(const Disk& disk, const std::string& path) {
  for (std::string folder = folder_of(path); !folder.empty(); folder = folder_of(folder)) {
    const FileKind kind = disk.kind(folder);
    if (kind == FileKind::File || kind == FileKind::Other) return folder;
  }
  return {};
}

class Planner {
 public:
  Planner(const Disk& disk, const Manifest* old, Plan& plan) : disk_(disk), old_(old), plan_(plan) {}

  void add(Rendered& render) {
    const Output& output = render.output;
    Step step{Action::Unchanged, output.path, output.file_class, output.key, {}, {}, std::move(render.text)};
    const std::string sum = sha256(step.after);
    const ManifestFile* before = find(output.path);
    std::string written = sum;  // what the manifest will say
    decide(step, sum, before);
    if (before && step.action == Action::Keep) written = before->sha256;
    if (step.file_class == FileClass::Shared) keep_pristine(step);
    plan_.manifest.files[step.path] = {step.file_class, written, output.template_name, output.key};
    plan_.steps.push_back(std::move(step));
  }

  /// A file of the last render that this one does not ask for.
  void drop(const std::string& path, const ManifestFile& file) {
    check_inside(disk_, folder_of(path));
    Step step{Action::Remove, path, file.file_class, file.key, "no longer asked for", {}, {}};
    const FileKind kind = disk_.kind(path);
    if (disk_.kind(pristine_path(path)) == FileKind::File) plan_.state_gone.push_back(pristine_path(path));
    if (kind == FileKind::None) return;
    if (kind == FileKind::File) step.before = disk_.read(path);
    if (kind != FileKind::File || sha256(step.before) != file.sha256) {
      step.action = Action::Keep;
      step.reason = "no longer asked for, but edited: yours from now on";
    }
    plan_.steps.push_back(std::move(step));
  }

 private:
  const ManifestFile* find(const std::string& path) const {
    if (!old_) return nullptr;
    const auto at = old_->files.find(path);
    return at == old_->files.end() ? nullptr : &at->second;
  }

  void decide(Step& step, const std::string& sum, const ManifestFile* before) {
    check_inside(disk_, folder_of(step.path));
    if (const std::string folder = obstacle(disk_, step.path); !folder.empty()) {
      return refuse(step, "'" + folder + "' is no folder");
    }
    const FileKind kind = disk_.kind(step.path);
    if (kind == FileKind::None) {
      step.action = Action::Create;
      step.reason = before ? "missing" : "new";
      return;
    }
    if (kind == FileKind::Folder) return refuse(step, "a folder is in its place");
    if (kind != FileKind::File) {
      if (step.file_class != FileClass::Owned) return refuse(step, "something else than a file is in its place");
      step.action = Action::Keep;
      return;
    }
    step.before = disk_.read(step.path);
    if (step.file_class == FileClass::Owned) {
      step.action = Action::Keep;
      // Said once: when what would be written has changed since it was written, not because its owner edited it.
      if (before && before->sha256 != sum && !before->template_name.empty()) {
        step.reason = "yours; openreg-gen would now write it differently";
      }
      return;
    }
    if (step.before == step.after) return;
    if (!before) return refuse(step, "exists, and openreg-gen did not write it");
    if (sha256(step.before) == before->sha256) {
      step.action = Action::Update;
      step.reason = "stale";
    } else if (step.file_class == FileClass::Shared && before->sha256 == sum) {
      step.action = Action::Keep;  // its owner's edits, on top of a render that is still the same
      step.reason = "edited";
    } else {
      refuse(step, "edited");
    }
  }

  static void refuse(Step& step, std::string why) {
    step.action = Action::Refuse;
    step.reason = std::move(why);
  }

  void keep_pristine(const Step& step) {
    const std::string path = pristine_path(step.path);
    check_inside(disk_, path);
    if (disk_.kind(path) == FileKind::File && disk_.read(path) == step.after) return;
    plan_.state.push_back({path, step.after});
  }

  const Disk& disk_;
  const Manifest* old_;
  Plan& plan_;
};

}  // namespace

std::string_view to_string(Action action) {
  switch (action) {
    case Action::Create:
      return "create";
    case Action::Update:
      return "update";
    case Action::Unchanged:
      return "unchanged";
    case Action::Keep:
      return "keep";
    case Action::Remove:
      return "remove";
    case Action::Refuse:
      return "refuse";
  }
  return {};
}

bool Plan::refused() const {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.action == Action::Refuse; });
}

bool Plan::changes() const {
  return !state.empty() || !state_gone.empty() || std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.action != Action::Unchanged && step.action != Action::Keep;
  });
}

Plan make_plan(const Disk& disk, const Manifest* old, std::vector<Rendered> renders, Manifest next) {
  std::vector<std::string> paths;
  for (const Rendered& render : renders) paths.push_back(render.output.path);
  check_paths(paths);
  check_inside(disk, std::string(kStateFolder));
  check_inside(disk, std::string(kManifest));

  Plan plan;
  plan.manifest = std::move(next);
  Planner planner(disk, old, plan);
  for (Rendered& render : renders) planner.add(render);
  if (old) {
    for (const auto& [path, file] : old->files) {
      if (!plan.manifest.files.contains(path)) planner.drop(path, file);
    }
  }
  std::sort(plan.steps.begin(), plan.steps.end(), [](const Step& a, const Step& b) { return a.path < b.path; });
  std::string text = manifest_text(plan.manifest);
  const std::string path(kManifest);
  if (disk.kind(path) != FileKind::File || disk.read(path) != text) plan.state.push_back({path, std::move(text)});
  return plan;
}

bool is_fresh(const Disk& disk, const Manifest& manifest, const Manifest& next) {
  if (manifest.inputs != next.inputs || manifest.tool != next.tool || manifest.torch != next.torch ||
      manifest.spec != next.spec) {
    return false;
  }
  std::string checked = ".";  // files are sorted, so that each folder is looked at about once
  for (const auto& [path, file] : manifest.files) {
    if (std::string folder = folder_of(path); folder != checked) {
      if (!disk.inside(folder)) return false;
      checked = std::move(folder);
    }
    if (disk.kind(path) != FileKind::File) return false;
    if (file.file_class == FileClass::Generated && sha256(disk.read(path)) != file.sha256) return false;
    if (file.file_class == FileClass::Shared && disk.kind(pristine_path(path)) != FileKind::File) return false;
  }
  return true;
}

}  // namespace openreg_gen
