// The plan: what to do with each file of a tree, decided before anything is written.
#pragma once

#include "output/output.h"
#include "tree/disk.h"
#include "tree/manifest.h"
#include "tree/merge.h"
#include "tree/verdict.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace openreg_gen {

struct Step {
  Verdict verdict = Verdict::Unchanged;
  std::string detail;     // what the verdict's text has a place for
  bool replaced = false;  // refused, but forced
  std::string path;       // where the file is, or will be
  FileClass file_class = FileClass::Generated;
  std::string key;         // the spec key that governs it
  std::string before;      // the text on disk, for a diff; empty if there is none
  std::string after;       // the text that will be there; empty for Remove
  std::string sum;         // SHA-256 of `after`; empty if it was not computed
  std::string backup;      // where a copy of `before` goes; may be empty
  std::vector<int> lines;  // where conflict markers are, or will be
  struct SignatureChange {
    int line = 0;           // of the kernel, from 1; 0: not found in the file
    bool read = true;       // false: it may have the new signature, its text doesn't show it
    bool compiles = false;  // only the order of parameters of one type changed
    std::string was, now;
  };
  std::optional<SignatureChange> signature_change;  // of an owned kernel whose signature changed
  /// The action of the verdict's row; Keep if the file already has the new text.
  Action action() const;
  Finding finding() const { return row_of(verdict).finding; }
  /// Why, in a few words: "edited", "missing", "no longer needed"; may be empty. For people: ask the verdict.
  std::string reason() const;
  bool writes() const;
};

struct Plan {
  std::vector<Step> steps;  // sorted by path
  Manifest manifest;        // as it will be
  struct State {
    std::string path;
    std::optional<std::string> text;  // none: it goes
  };
  std::vector<State> state;  // backups, pristine renders and the manifest; the manifest is last
  bool refused() const;
  /// Files have, or will have, conflict markers.
  bool conflicts() const;
  /// False if files and state are as they should be.
  bool changes() const;
  /// Something that `undo` can revert: a file, or a file's class. The rest of the state follows from the files.
  bool worth_undoing() const;
  /// False if a --check must fail.
  bool clean() const;
};

struct PlanOptions {
  Merger merger = merge_by_git;
  MergeSide side = MergeSide::Markers;
  bool force = false;            // what is in the way is copied to .openreg-gen/backup and replaced
  std::set<std::string> disown;  // paths of files that their owner gives back
};

/// Compares the renders with the disk and with what was written last (`old`; null for a new tree). `next` is the new
/// manifest without its files. Reads only. Throws Failure: unsafe paths (E0504, E0505), symlinks that lead out (E0508).
Plan make_plan(const Disk& disk, const Manifest* old, std::vector<RenderedFile> renders, Manifest next,
               const PlanOptions& options = {});

/// True if a render of `inputs` would change nothing, found without rendering.
bool is_fresh(const Disk& disk, const Manifest& manifest, const Manifest& next);

/// Carries a plan out: all of it, or nothing.
/// Writes everything beside the tree's files first, then swaps it into place, the manifest last (tree/journal.h). If a
/// step fails, or a file is no longer what the plan saw (E0522), the run is reverted and the Failure is rethrown.
/// If the process is killed, `recover` finishes or reverts it. The old files are kept for `undo`, if there is
/// anything to revert; `what` names the run. A plan that is refused is not applied: ask Plan::refused first.
void apply_plan(Disk& disk, const Plan& plan, const std::string& what = "generate");

}  // namespace openreg_gen
