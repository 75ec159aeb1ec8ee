#include "tree/status.h"

#include "system/sha256.h"
#include "tree/kernel_signature.h"
#include "tree/merge.h"
#include "tree/paths.h"

namespace openreg_gen {

std::vector<FileStatus> file_statuses(const Disk& disk, const Manifest& manifest) {
  std::vector<FileStatus> out;
  for (const auto& [rendered_as, file] : manifest.files) {
    FileStatus status{file, file.at.empty() ? rendered_as : file.at, rendered_as};
    status.left = manifest.is_left(rendered_as);
    status.missing = !disk.inside(folder_of(status.path)) || disk.kind(status.path) != FileKind::File;
    if (!status.missing) {
      const std::string text = disk.read(status.path);
      status.edited = sha256(text) != file.sha256;
      if (file.file_class == FileClass::Shared) status.markers = conflict_lines(text);
      if (!file.wanted.empty()) {
        const FoundKernel place = find_kernel(text, file.wanted, file.signature);
        status.line = place.line;
        status.read = place.read;
        if (place.fits) status.wanted.clear();
      }
    }
    out.push_back(std::move(status));
  }
  return out;
}

}  // namespace openreg_gen
