#include "render/data_dir.h"

#include "diag/failure.h"
#include "system/sha256.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

namespace openreg_gen {
namespace fs = std::filesystem;
namespace {

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw Failure(Exit::Environment, "E0608", "cannot read " + path.string(), "install openreg-gen again");
  return std::move(text).str();
}

}  // namespace

fs::path executable_path() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : path;
}

DataDir find_data() {
  const fs::path source = OPENREG_GEN_SOURCE_DIR;
  const fs::path share = executable_path().parent_path().parent_path() / "share/openreg-gen";
  const char* chosen = std::getenv("OPENREG_GEN_DATA");
  std::vector<fs::path> places =
      chosen && *chosen ? std::vector<fs::path>{chosen} : std::vector<fs::path>{share, source};
  std::string tried;
  for (const fs::path& place : places) {
    if (fs::exists(place / "templates/templates.yaml")) {
      DataDir data{place / "templates", place / "specs", {}};
      for (const fs::path& renderer :
           {place / "renderer.py", share / "renderer.py", source / "generator/render/renderer.py"}) {
        if (data.renderer.empty() && fs::exists(renderer)) data.renderer = renderer;
      }
      if (!data.renderer.empty()) return data;
    }
    tried += (tried.empty() ? "" : ", ") + place.string();
  }
  throw Failure(Exit::Environment, "E0608", "the templates are not where they should be; looked in " + tried,
                "install openreg-gen again, or set OPENREG_GEN_DATA to the folder that holds templates/");
}

fs::path cache_dir() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/') return fs::path(xdg) / "openreg-gen";
  if (const char* home = std::getenv("HOME"); home && *home == '/') return fs::path(home) / ".cache/openreg-gen";
  return {};
}

std::string hash_templates(const DataDir& data) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(data.templates)) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(data.templates).generic_string());
  }
  std::sort(names.begin(), names.end());
  Sha256 hash;
  const auto add = [&hash](const std::string& name, const std::string& bytes) {
    hash.add(name);
    hash.add('\n' + std::to_string(bytes.size()) + '\n');
    hash.add(bytes);
  };
  for (const std::string& name : names) add(name, read_file(data.templates / name));
  add("renderer.py", read_file(data.renderer));
  return hash.hex();
}

}  // namespace openreg_gen
