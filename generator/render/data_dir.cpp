#include "render/data_dir.h"

#include "base/environment.h"
#include "diag/failure.h"
#include "system/python.h"
#include "system/sha256.h"

#include <algorithm>
#include <vector>

namespace openreg_gen {
DataDir find_data() {
  const fs::path source = OPENREG_GEN_SOURCE_DIR;
  const fs::path share = executable_path().parent_path().parent_path() / "share/openreg-gen";
  const fs::path chosen = environment("OPENREG_GEN_DATA");
  const auto places = chosen.empty() ? std::vector<fs::path>{share, source} : std::vector<fs::path>{chosen};
  std::string tried;
  for (const fs::path& place : places) {
    if (fs::exists(place / "templates/templates.yaml")) {
      DataDir data{place / "templates", place / "specs", {}, place / "docs/reference"};
      for (const fs::path& renderer :
           {place / "renderer.py", share / "renderer.py", source / "generator/render/renderer.py"}) {
        if (data.renderer.empty() && fs::exists(renderer)) data.renderer = renderer;
      }
      for (const fs::path& workbench : {place / "workbench", share / "workbench", source / "generator/workbench"}) {
        if (data.workbench.empty() && fs::exists(workbench / "openreg_gen")) data.workbench = workbench;
      }
      if (!data.renderer.empty() && !data.workbench.empty()) return data;
    }
    tried += (tried.empty() ? "" : ", ") + place.string();
  }
  throw Failure(Exit::Environment, "E0608", "cannot find the templates; looked in " + tried,
                "install openreg-gen again, or set OPENREG_GEN_DATA to the folder that holds templates/");
}

std::vector<std::string> list_templates(const DataDir& data) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator at(data.templates, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error)) names.push_back(at->path().lexically_relative(data.templates).generic_string());
  if (error) {
    throw Failure(Exit::Environment, "E0608", "cannot read " + data.templates.string() + ": " + error.message(),
                  "install openreg-gen again");
  }
  std::ranges::sort(names);
  return names;
}

std::string hash_templates(const DataDir& data) {
  Sha256 hash;
  const auto add = [&hash](const std::string& name, const std::string& bytes) {
    hash.add(name);
    hash.add('\n' + std::to_string(bytes.size()) + '\n');
    hash.add(bytes);
  };
  for (const std::string& name : list_templates(data)) add(name, read_data(data.templates / name));
  for (const char* name : {"openreg_gen/testing/forms.py", "openreg_gen/testing/opinfos.py"})  // templates include them
    if (!data.workbench.empty()) add(name, read_data(data.workbench / name));
  add("renderer.py", read_data(data.renderer));
  return hash.hex();
}

}  // namespace openreg_gen
