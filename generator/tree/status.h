// What there is to know of a tree without rendering.
#pragma once

#include "tree/disk.h"
#include "tree/manifest.h"

#include <string>
#include <vector>

namespace openreg_gen {

struct FileStatus {
  std::string path;         // where it is
  std::string rendered_as;  // where it would be rendered to
  FileClass file_class = FileClass::Generated;
  std::string key;
  bool missing = false;
  bool edited = false;            // other bytes than were written last
  bool claimed = false;           // by `own`
  bool ignored = false;           // by .openreg-gen/ignore
  bool left = false;              // the spec no longer asks for it
  std::vector<int> markers;       // lines of conflict markers that wait to be mended
  int line = 0;                   // of a kernel with another signature than it should have
  std::string signature, wanted;  // of such a kernel; else `wanted` is empty
};

/// All files of the manifest, sorted by where they would be rendered to.
std::vector<FileStatus> file_statuses(const Disk& disk, const Manifest& manifest);

}  // namespace openreg_gen
