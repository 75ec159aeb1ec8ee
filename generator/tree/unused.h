// Files between PyTorch and the device that nothing reaches any more, once kernels of the owner's have taken their
// place.
#pragma once

#include "tree/disk.h"
#include "tree/manifest.h"

#include <set>
#include <string>
#include <vector>

namespace openreg_gen {

/// Generated and shared C++ files of csrc/aten and csrc/host that serve no operator: no file that registers operators,
/// no file of the owner's and nothing outside of the two folders leads to them by `#include "..."`. A source file
/// belongs to its own header, or to the first that it includes. Sorted; paths as on disk. `linked`: names of templates
/// whose functions are called without a header of theirs. Conditions of the preprocessor are not read.
std::vector<std::string> unused_files(const Disk& disk, const Manifest& manifest, const std::set<std::string>& linked);

}  // namespace openreg_gen
