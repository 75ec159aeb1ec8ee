#include "tree/moved.h"

#include "header/header.h"

namespace openreg_gen {
namespace {

constexpr std::size_t kLargest = 4 << 20;

void look(const Disk& disk, const std::string& folder, std::map<std::string, std::vector<std::string>>& out) {
  const std::vector<std::string> names = disk.list(folder);
  for (const std::string& name : names) {
    if (name == "CMakeCache.txt") return;
  }
  for (const std::string& name : names) {
    const std::string path = folder.empty() ? name : folder + "/" + name;
    const FileKind kind = disk.kind(path);
    if (kind == FileKind::Folder && name[0] != '.' && name != "__pycache__" && name != "node_modules") {
      look(disk, path, out);
    }
    if (kind != FileKind::File || name.ends_with(".so") || name.ends_with(".o") || name.ends_with(".a")) continue;
    if (disk.size(path) > kLargest) continue;
    for (const std::string& id : marks_in(disk.read(path))) {
      std::vector<std::string>& paths = out[id];
      if (paths.empty() || paths.back() != path) paths.push_back(path);
    }
  }
}

}  // namespace

std::map<std::string, std::vector<std::string>> find_marks(const Disk& disk) {
  std::map<std::string, std::vector<std::string>> out;
  look(disk, {}, out);
  return out;
}

}  // namespace openreg_gen
