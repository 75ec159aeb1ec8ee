// Which tree a folder belongs to, and which paths may be written. Paths are relative to the tree's root, with '/'.
#pragma once

#include "system/files.h"

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

class Disk;

inline constexpr std::string_view kStateFolder = ".openreg-gen";
inline constexpr std::string_view kManifest = ".openreg-gen/manifest.json";
inline constexpr std::string_view kPristine = ".openreg-gen/pristine/";
inline const std::string kTemporary = ".openreg-gen/tmp";

/// Throws Failure(Internal, E0504) if `path` is absolute, empty, climbs (".."), holds '\\', a control character, or an
/// empty or "." component.
void check_path(std::string_view path);

/// check_path on each; no two the same, also where the file system ignores letter case (E0505); none that is a folder
/// of another; none in .openreg-gen.
void check_paths(const std::vector<std::string>& paths);

/// Throws Failure(No, E0508) if a symlink makes `path` lead out of the tree.
void check_inside(const Disk& disk, const std::string& path);

/// "a/b.h" -> "a"; "b.h" -> "".
std::string folder_of(std::string_view path);

/// Which tree a folder belongs to: the nearest folder, from `start` (empty: the current folder) upwards, that holds a
/// manifest or an unfinished run's journal. Throws Failure(BadInput, E0502) if there is none.
fs::path find_tree(const fs::path& start);

}  // namespace openreg_gen
