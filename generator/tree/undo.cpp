#include "tree/undo.h"

#include "tree/journal.h"
#include "tree/paths.h"

#include <algorithm>

namespace openreg_gen {

bool LastRun::edited() const {
  return std::ranges::any_of(files, [](const File& file) { return file.edited; });
}

std::optional<LastRun> last_run(const Disk& disk) {
  const std::string folder(kUndo);
  if (disk.kind(folder + "/journal.json") != FileKind::File) return std::nullopt;
  const Journal journal = read_journal(disk, folder);
  LastRun run{journal.what, {}};
  for (const Swap& swap : journal.swaps) {
    LastRun::File file{swap.to, LastRun::File::Back::Restore, false, {}};
    if (swap.before.empty()) file.back = LastRun::File::Back::Remove;
    if (swap.after.empty()) file.back = LastRun::File::Back::Bring;
    const std::string slot = folder + "/" + swap.slot;
    file.edited = hash_of(disk, swap.to) != swap.after || hash_of(disk, slot) != swap.before;
    if (!swap.before.empty() && disk.kind(slot) == FileKind::File) file.before = disk.read(slot);
    const bool shown = journal.swaps.size() == 1 || !swap.to.starts_with(std::string(kStateFolder) + "/");
    if (shown || file.edited) run.files.push_back(std::move(file));
  }
  return run;
}

void undo_last_run(Disk& disk) {
  const std::string undo(kUndo), tmp(kTemporary);
  Journal journal = read_journal(disk, undo);
  // Killed from here on, the next run sees a run that is done, and puts it back into .openreg-gen/undo.
  disk.rename(undo, tmp);
  for (Swap& swap : journal.swaps) std::swap(swap.before, swap.after);
  std::reverse(journal.swaps.begin(), journal.swaps.end());
  journal.what = journal.what.starts_with("undo of ") ? journal.what.substr(8) : "undo of " + journal.what;
  disk.remove(tmp + "/.gitignore");
  write_journal(disk, journal);
  carry_out(disk, journal);
}

}  // namespace openreg_gen
