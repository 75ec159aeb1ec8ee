// Takes the last run back.
#pragma once

#include "tree/disk.h"

#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

/// What the last run wrote, as far as it can be taken back.
struct LastRun {
  std::string what;  // "generate", "add"
  struct File {
    std::string path;
    enum class Back { Restore, Remove, Bring } back;  // the old text again; the new file away; the removed file again
    bool edited = false;                              // since: in the way
    std::string before;                               // the text that comes back; empty for Remove
  };
  std::vector<File> files;  // in the run's order; of the tool's own only the manifest, if nothing else changed
  bool edited() const;
};

/// Nothing if there is no run to take back: none was done, or it made the tree.
std::optional<LastRun> last_run(const Disk& disk);

/// Takes it back; that itself is then the last run, so that a second undo does it again. Ask LastRun::edited first: if
/// a file was edited, throws Failure(No, E0522) and changes nothing.
void undo_last_run(Disk& disk);

}  // namespace openreg_gen
