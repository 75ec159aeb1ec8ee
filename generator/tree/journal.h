// How a run's changes reach the tree: all of them or none, and never over edits that the plan didn't see.
//
// Each change is a swap: the new file waits in a slot of .openreg-gen/tmp and is exchanged with the old one atomically.
// So at every moment each file in the tree is complete, old or new, and the other one is in the slot. The journal has
// the hash of each file before and after; a file with another hash was edited meanwhile and stays unchanged.
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

/// SHA-256 of a file's bytes; empty if it doesn't exist; "?" if it is not a regular file (a folder, a symlink).
std::string hash_of(const Disk& disk, const std::string& path);

std::string journal_text(const Journal& journal);

/// Writes a journal, and a file that makes git ignore the folder, beside slots that are already written; everything is
/// flushed to the disk when this returns.
void write_journal(Disk& disk, const Journal& journal);

/// The journal in a folder. Throws Failure(Environment, E0521) if it is invalid or from another version of openreg-gen,
/// and E0504 or E0508 if it leads out of the tree.
Journal read_journal(const Disk& disk, const std::string& folder);

/// Carries out a journal that was written to .openreg-gen/tmp, and keeps it for `undo` or forgets it. If a step fails
/// or finds a file edited (E0522), the run is reverted and the Failure is rethrown.
void carry_out(Disk& disk, const Journal& journal);

/// True if a killed run has left work to finish.
bool needs_recovery(const Disk& disk);

/// Finishes a killed run, or reverts it if a file that it would replace, or has replaced, was edited since; removes
/// half-written files. Edited files stay unchanged.
struct Recovery {
  enum class Kind { Nothing, Cleared, Finished, TakenBack } kind = Kind::Nothing;
  std::vector<std::string> edited;  // paths
  std::string backup;               // folder of what edited files had replaced; may be empty
};
Recovery recover(Disk& disk);

/// A program that holds a file open while a run replaces it writes into the old file, which `undo` keeps. Moves such
/// files to .openreg-gen/backup, before the next run drops them.
struct LateWrites {
  std::vector<std::string> paths;
  std::string backup;  // folder
};
LateWrites keep_late_writes(Disk& disk);

/// The number of the next folder in .openreg-gen/backup: ".openreg-gen/backup/3/".
std::string next_backup(const Disk& disk);

}  // namespace openreg_gen
