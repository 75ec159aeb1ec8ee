#include "tree/own.h"

#include "base/text.h"
#include "diag/failure.h"
#include "tree/paths.h"

#include <fnmatch.h>

#include <functional>

namespace openreg_gen {
namespace {

/// Calls `act` with the path that each file is rendered to. Of folders and patterns, those that `concerns` holds for.
void for_each_file(const Manifest& manifest, const std::vector<std::string>& paths,
                   const std::function<bool(const ManifestFile&)>& concerns,
                   const std::function<void(const std::string& path)>& act) {
  for (std::string path : paths) {
    if (path.ends_with('/')) path.pop_back();
    std::string rendered_as;
    if (find_file(manifest, path, &rendered_as)) {
      act(rendered_as);
      continue;
    }
    bool any = false;
    for (const auto& [each, file] : manifest.files) {
      if (!each.starts_with(path + "/") && fnmatch(path.c_str(), each.c_str(), FNM_NOESCAPE) != 0) continue;
      any = true;
      if (concerns(file)) act(each);
    }
    if (!any) {
      throw Failure(Exit::BadInput, "E0530", "openreg-gen did not write '" + path + "'",
                    "`openreg-gen status` shows the files of the tree");
    }
  }
}

}  // namespace

Plan own_plan(const Disk& disk, const Manifest& manifest, const std::vector<std::string>& paths) {
  Plan plan;
  plan.manifest = manifest;
  const auto concerns = [](const ManifestFile& file) { return file.file_class != FileClass::Owned; };
  for_each_file(manifest, paths, concerns, [&](const std::string& path) {
    ManifestFile& file = plan.manifest.files.at(path);
    const FileClass was = file.file_class;
    const FileKind kind = disk.kind(file.at.empty() ? path : file.at);
    if (file.taken() || (was == FileClass::Owned && kind != FileKind::None)) return;
    check_inside(disk, folder_of(path));
    file.file_class = FileClass::Owned;
    file.id = file.at = file.signature = file.wanted = {};
    Step step;
    step.path = path;
    step.file_class = FileClass::Owned;
    step.key = file.key;
    if (kind == FileKind::File) step.before = disk.read(path);
    step.after = with_class(step.before, file.key, was, FileClass::Owned);
    step.verdict = Verdict::Taken;
    plan.steps.push_back(std::move(step));
  });
  if (plan.manifest != manifest) plan.state.push_back({std::string(kManifest), manifest_text(plan.manifest)});
  return plan;
}

std::vector<std::string> check_disown(const Manifest& manifest, const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  const auto taken = [](const ManifestFile& file) { return file.taken() && !file.template_name.empty(); };
  for_each_file(manifest, paths, taken, [&](const std::string& path) {
    const ManifestFile& file = manifest.files.at(path);
    if (taken(file)) return out.push_back(path);
    const bool owned = file.file_class == FileClass::Owned, again = owned && !file.taken() && !file.key.empty();
    throw Failure(Exit::BadInput, "E0532",
                  owned ? "'" + path + "' is always yours; there is nothing to give back"
                        : "'" + path + "' already belongs to openreg-gen",
                  again ? "if you delete it, `openreg-gen generate` writes it again" : "");
  });
  return out;
}

}  // namespace openreg_gen
