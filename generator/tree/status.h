// The state of a tree, as far as it is known without rendering.
#pragma once

#include "tree/disk.h"
#include "tree/manifest.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// A file's entry in the manifest and its state on disk; `wanted` only if the kernel doesn't have this signature yet.
struct FileStatus : ManifestFile {
  std::string path;         // where it is
  std::string rendered_as;  // where it would be rendered to
  bool left = false;        // the spec no longer asks for it
  bool missing = false;
  bool edited = false;         // other bytes than were written last
  std::vector<int> markers{};  // lines of conflict markers that wait to be resolved
  int line = 0;                // of a kernel with another signature than it should have
  bool read = true;            // false if its text doesn't show which signature it has
};

/// All files of the manifest, sorted by where they would be rendered to.
std::vector<FileStatus> file_statuses(const Disk& disk, const Manifest& manifest);

}  // namespace openreg_gen
