// Owned files that were moved or renamed are found by the mark in their header: "[openreg-gen aten::relu]".
#pragma once

#include "tree/disk.h"

#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

/// Where each id is marked: paths, sorted. Looks through the whole tree, but for .openreg-gen, hidden folders, build
/// folders (those with a CMakeCache.txt), symlinks and files that are large or not text.
std::map<std::string, std::vector<std::string>> find_marks(const Disk& disk);

}  // namespace openreg_gen
