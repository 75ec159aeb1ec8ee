#include "tree/own.h"

#include "diag/failure.h"
#include "tree/paths.h"

namespace openreg_gen {
namespace {

const ManifestFile& entry_of(const Manifest& manifest, const std::string& path, std::string& rendered_as) {
  const ManifestFile* file = find_file(manifest, path, &rendered_as);
  if (!file) {
    throw Failure(Exit::BadInput, "E0530",
                  "openreg-gen did not write '" + path + "': there is nothing to take or to give back",
                  "`openreg-gen status` shows the files of the tree");
  }
  return *file;
}

}  // namespace

Plan own_plan(const Disk& disk, const Manifest& manifest, const std::vector<std::string>& paths) {
  Plan plan;
  plan.manifest = manifest;
  for (const std::string& path : paths) {
    std::string rendered_as;
    const ManifestFile& file = entry_of(manifest, path, rendered_as);
    ManifestFile& next = plan.manifest.files[rendered_as];
    if (next.claimed || file.template_name.empty()) continue;
    check_inside(disk, folder_of(path));
    if (disk.kind(path) != FileKind::File) {
      throw Failure(
          Exit::BadInput, "E0530", "'" + path + "' is not there",
          "`openreg-gen generate` renders it; a file that shall never be there is named in .openreg-gen/ignore");
    }
    next.claimed = true;
    next.conflict = false;
    if (file.file_class == FileClass::Owned) continue;
    next.file_class = FileClass::Owned;
    next.id = rendered_as;
    Step step;
    step.path = path;
    step.file_class = FileClass::Owned;
    step.key = file.key;
    step.before = disk.read(path);
    step.after = with_class(step.before, {rendered_as, file.file_class, file.key, {}},
                            {rendered_as, FileClass::Owned, file.key, rendered_as});
    step.verdict = step.after == step.before ? Verdict::TakenAsIs : Verdict::Taken;
    plan.steps.push_back(std::move(step));
  }
  std::string text = manifest_text(plan.manifest);
  if (plan.manifest != manifest) plan.state.push_back({std::string(kManifest), std::move(text)});
  return plan;
}

std::vector<std::string> check_disown(const Manifest& manifest, const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::string rendered_as;
    const ManifestFile& file = entry_of(manifest, path, rendered_as);
    if (!file.claimed) {
      throw Failure(Exit::BadInput, "E0532",
                    file.file_class == FileClass::Owned
                        ? "'" + path + "' is yours by its class: nothing would be given back"
                        : "'" + path + "' is openreg-gen's already",
                    file.file_class == FileClass::Owned ? "delete it, and `openreg-gen generate` renders it anew" : "");
    }
    out.push_back(rendered_as);
  }
  return out;
}

}  // namespace openreg_gen
