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

enum class Verdict {
  // Any file.
  Unchanged,
  New,
  Missing,
  Stale,
  Blocked,
  Foreign,
  // Edits of what is generated or shared.
  Edited,
  YourEdits,
  Merged,
  Resolved,
  Conflict,
  ResolveFirst,
  // `own` and `disown`.
  Taken,
  GivenBack,
  // What is owned.
  Yours,
  YoursMoved,
  YoursOutdated,
  YoursDiffers,
  AsAsked,
  // What the spec no longer asks for.
  Left,
  LeftWithKernel,
  Gone,
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
