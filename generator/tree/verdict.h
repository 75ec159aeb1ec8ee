// What a run finds about a file, does and reports: one row of a table per case.
#pragma once

#include "base/text.h"

#include <span>
#include <string_view>

namespace openreg_gen {

/// Create, Update, Merge and Remove change the disk; Conflict does if it adds markers. Keep: the file belongs to its
/// owner. Refuse: the whole run is refused.
enum class Action { Create, Update, Merge, Conflict, Unchanged, Keep, Remove, Refuse };
inline std::string_view to_string(Action action) {
  return word_of("create update merge conflict unchanged keep remove refuse", action);
}

/// The finding for `generate --check`. Fine: up to date, or up to its owner.
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
  // Edits of generated or shared files.
  Edited,
  YourEdits,
  MergeResult,
  ResolvedSpec,
  Conflict,
  ResolveFirst,
  // `own` and `disown`.
  Taken,
  GivenBack,
  // Owned files.
  Yours,
  YoursMoved,
  YoursOutdated,
  YoursUnread,
  YoursDiffers,
  AsAsked,
  // Files that the spec no longer needs.
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
