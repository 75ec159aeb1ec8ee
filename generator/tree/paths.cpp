#include "tree/paths.h"

#include "diag/failure.h"
#include "base/text.h"
#include "tree/disk.h"

#include <map>

namespace openreg_gen {
void check_path(std::string_view path) {
  const auto fail = [path](const char* why) {
    throw Failure(Exit::Internal, "E0504", "'" + std::string(path) + "' is not a path inside a tree: " + why);
  };
  if (path.empty()) fail("it is empty");
  if (path[0] == '/') fail("it is absolute");
  for (char c : path) {
    if (c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      fail("it holds a backslash or control character");
  }
  std::string_view rest = path;
  for (;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part == "..") fail("it climbs");
    if (part.empty() || part == ".") fail("it has an empty component");
    if (slash == std::string_view::npos) return;
    rest = rest.substr(slash + 1);
  }
}

void check_paths(const std::vector<std::string>& paths) {
  std::map<std::string, std::string> seen;  // lower case -> as written
  for (const std::string& path : paths) {
    check_path(path);
    const std::string key = lower_case(path);
    if (key == kStateFolder || key.starts_with(std::string(kStateFolder) + "/"))
      throw Failure(Exit::Internal, "E0504", "'" + path + "' is in .openreg-gen, which openreg-gen reserves");
    const auto [at, added] = seen.emplace(key, path);
    if (!added) {
      throw Failure(Exit::Internal, "E0505",
                    at->second == path ? "two outputs are called '" + path + "'"
                                       : "'" + path + "' and '" + at->second + "' differ in letter case only");
    }
  }
  for (const auto& [key, path] : seen) {
    for (std::string folder = folder_of(key); !folder.empty(); folder = folder_of(folder)) {
      if (const auto at = seen.find(folder); at != seen.end())
        throw Failure(Exit::Internal, "E0505", "'" + at->second + "' is a file and the folder of '" + path + "'");
    }
  }
}

void check_inside(const Disk& disk, const std::string& path) {
  if (!disk.inside(path)) {
    throw Failure(Exit::No, "E0508", "a symlink makes '" + path + "' lead out of the tree",
                  "replace the symlink by a folder or file; nothing was written");
  }
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

fs::path find_tree(const fs::path& start) {
  std::error_code error;
  const fs::path from = start.empty() ? fs::current_path(error) : fs::canonical(start, error);
  if (error || !fs::is_directory(from, error)) {
    throw Failure(Exit::BadInput, "E0502", "'" + (start.empty() ? "." : start.string()) + "' is not a directory",
                  "name the folder of a generated backend with -C");
  }
  for (fs::path at = from;; at = at.parent_path()) {
    if (fs::exists(at / kManifest, error) || fs::exists(at / kTemporary / "journal.json", error)) return at;
    if (at == at.parent_path()) break;
  }
  throw Failure(Exit::BadInput, "E0502", "'" + from.string() + "' is not in a generated backend",
                "change into one, name it with -C, or create one with `openreg-gen new NAME`");
}

}  // namespace openreg_gen
