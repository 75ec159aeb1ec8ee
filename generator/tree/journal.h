// How a run's changes reach the tree: all of them, or none, and never over bytes that nobody has looked at.
//
// Each change is a swap: the new file waits in a slot of .openreg-gen/tmp and changes places with the old one, at once.
// So at every instant each file is in the tree whole, old or new, and its counterpart is in the slot. The journal says
// of each what is to be there before and after; a file that is neither has been edited meanwhile and stays as it is.
#pragma once

#include "tree/disk.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// Hashes are SHA-256 in hex; empty: no file.
struct Swap {
  std::string slot;  // name in the journal's folder
  std::string to;    // path in the tree
  std::string before, after;
};

struct Journal {
  std::string what;   // "generate", "add": for messages
  bool keep = false;  // as what `undo` takes back
  std::vector<Swap> swaps;
};

inline constexpr std::string_view kUndo = ".openreg-gen/undo";

/// SHA-256 of a file's bytes; empty if nothing is there; "?" if it is no file (a folder, a symlink).
std::string hash_of(const Disk& disk, const std::string& path);

std::string journal_text(const Journal& journal);

/// Puts a journal, and what makes git leave its folder out, beside slots that are already written; all of it is on the
/// disk when this returns.
void write_journal(Disk& disk, const Journal& journal);

/// The journal in a folder. Throws Failure(Environment, E0521) if it is none, or of another version of the tool, or
/// leads out of the tree (E0504, E0508).
Journal read_journal(const Disk& disk, const std::string& folder);

/// Carries out a journal that was written to .openreg-gen/tmp, and keeps it for `undo` or forgets it. If a step fails
/// or finds a file edited (E0522), what was done is taken back and the Failure goes on.
void carry_out(Disk& disk, const Journal& journal);

/// True if a killed run has left work to finish.
bool needs_recovery(const Disk& disk);

/// Finishes what a killed run had begun, or takes it back if a file it would replace, or has replaced, was edited
/// since; clears what it had only begun to write. Edited files stay as they are.
struct Recovery {
  enum class Kind { Nothing, Cleared, Finished, TakenBack } kind = Kind::Nothing;
  std::vector<std::string> edited;  // paths
  std::string backup;               // folder of what edited files had replaced; may be empty
};
Recovery recover(Disk& disk);

/// Who holds a file open while a run replaces it writes into the old file, which is kept for `undo` by then: such files
/// are moved to .openreg-gen/backup, before the next run drops what `undo` keeps.
struct LateWrites {
  std::vector<std::string> paths;
  std::string backup;  // folder
};
LateWrites keep_late_writes(Disk& disk);

/// The number of the next folder in .openreg-gen/backup: ".openreg-gen/backup/3/".
std::string next_backup(const Disk& disk);

}  // namespace openreg_gen
