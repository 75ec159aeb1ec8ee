#include "render/python.h"

#include "render/data_dir.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace openreg_gen {
namespace fs = std::filesystem;
namespace {

bool runnable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

void add(std::vector<fs::path>& list, const fs::path& path) {
  if (runnable(path) && std::find(list.begin(), list.end(), path) == list.end()) list.push_back(path);
}

void add_from_path(std::vector<fs::path>& list, std::string_view name) {
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable ? variable : "";
  while (!folders.empty()) {
    const std::size_t colon = folders.find(':');
    const std::string_view folder = folders.substr(0, colon);
    if (!folder.empty()) add(list, fs::path(folder) / name);
    folders = colon == std::string_view::npos ? std::string_view() : folders.substr(colon + 1);
  }
}

}  // namespace

std::vector<fs::path> python_candidates() {
  std::vector<fs::path> list;
  if (const char* chosen = std::getenv("OPENREG_GEN_PYTHON"); chosen && *chosen) {
    add(list, chosen);
    return list;
  }
  const fs::path beside = executable_path().parent_path();
  add(list, beside / "python3");
  if (const char* venv = std::getenv("VIRTUAL_ENV"); venv && *venv) add(list, fs::path(venv) / "bin/python");
  add_from_path(list, "python3");
  return list;
}

}  // namespace openreg_gen
