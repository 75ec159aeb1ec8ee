// Reverts the last run.
#pragma once

#include "tree/disk.h"

#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

/// The changes of the last run that can be reverted.
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

/// Nothing if no run can be reverted: there was none, or it created the tree.
std::optional<LastRun> last_run(const Disk& disk);

/// Reverts it; that is then the last run, so a second undo redoes it. Check LastRun::edited first: if a file was
/// edited, throws Failure(No, E0522) and changes nothing.
void undo_last_run(Disk& disk);

}  // namespace openreg_gen
