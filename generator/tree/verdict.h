// What a run finds of a file, what it does about it and what it says: one row of a table for each case.
#pragma once

#include "base/text.h"

#include <span>
#include <string_view>

namespace openreg_gen {

/// Create, Update, Merge and Remove change the disk; Conflict does if it puts markers in. Keep: the file is its
/// owner's. Refuse: the whole run is refused.
enum class Action { Create, Update, Merge, Conflict, Unchanged, Keep, Remove, Refuse };
inline std::string_view to_string(Action action) {
  return word_of("create update merge conflict unchanged keep remove refuse", action);
}

/// What was found, for `generate --check`. Fine: as it should be, or its owner's business.
enum class Finding { Fine, Missing, Stale, Edited, Extra, Conflict, Outdated, Blocked };
inline std::string_view to_string(Finding finding) {
  return word_of("fine missing stale edited extra conflict drifted blocked", finding);
}

/// `AsIs`: the same, where the text on the disk is what it would become.
enum class Verdict {
  // Any file.
  Unchanged,
  New,
  Missing,
  Stale,
  // What stands in a file's place.
  FileAbove,
  FolderThere,
  SymlinkThere,
  NoPlainFile,
  OtherCase,
  Foreign,
  // Edits of what is generated.
  Edited,
  EditedToCrlf,
  OwnedBefore,
  // Edits of what is shared.
  YourEdits,
  Merged,
  MergedAsIs,
  Resolved,
  ResolvedToRender,
  Conflict,
  Unmended,
  MendFirst,
  NoBase,
  Unmergeable,
  // `own` and `disown`.
  Taken,
  TakenAsIs,
  GivenBack,
  GivenBackMerged,
  GivenBackAsIs,
  // What is owned.
  Yours,
  YoursMoved,
  YoursOutdated,
  YoursDiffers,
  TwoMarks,
  AsAsked,
  EditedMeanwhile,
  // What the spec no longer asks for, or nobody does.
  Ignored,
  Left,
  LeftWithKernel,
  Gone,
  GoneElsewhere,
  GoneEdited,
};

struct VerdictRow {
  Verdict verdict;
  Action action;
  Finding finding;
  std::string_view text;  // a few words; "{}" stands for the step's detail; empty: nothing to say
  bool forcible = false;  // of Refuse: --force copies what is there to .openreg-gen/backup and replaces it
};

/// In the order of the enum.
std::span<const VerdictRow> all_verdicts();
const VerdictRow& row_of(Verdict verdict);

}  // namespace openreg_gen
