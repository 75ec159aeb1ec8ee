#include "tree/verdict.h"

#include <array>

namespace openreg_gen {
namespace {

// clang-format off
constexpr auto kRows = [] {
  using enum Verdict;
  using A = Action;
  using F = Finding;
  constexpr bool forcible = true;
  return std::to_array<VerdictRow>({
    {Unchanged, A::Unchanged, F::Fine, ""},
    {New, A::Create, F::Missing, "new"},
    {Missing, A::Create, F::Missing, "missing"},
    {Stale, A::Update, F::Stale, "stale"},

    {FileAbove, A::Refuse, F::Blocked, "'{}' is a file where a folder has to be"},
    {FolderThere, A::Refuse, F::Blocked, "a folder is in its place"},
    {SymlinkThere, A::Refuse, F::Blocked, "a symlink is in its place"},
    {NoPlainFile, A::Refuse, F::Blocked, "no plain file is in its place"},
    {OtherCase, A::Refuse, F::Blocked, "'{}' differs in letter case only: on some systems they are one file"},
    {Foreign, A::Refuse, F::Blocked, "exists, and openreg-gen did not write it", forcible},

    {Edited, A::Refuse, F::Edited, "edited", forcible},
    {EditedToCrlf, A::Refuse, F::Edited, "edited: its lines end in CRLF", forcible},
    {OwnedBefore, A::Refuse, F::Blocked, "yours, but the spec now has it generated", forcible},

    {YourEdits, A::Keep, F::Fine, "edited"},
    {Merged, A::Merge, F::Stale, "your edits and the new render"},
    {MergedAsIs, A::Keep, F::Stale, "your edits and the new render"},
    {Resolved, A::Merge, F::Fine, "resolved"},
    {ResolvedToRender, A::Update, F::Stale, "resolved"},
    {Conflict, A::Conflict, F::Conflict, "conflict, {}"},
    {Unmended, A::Conflict, F::Conflict, "conflict markers, {}"},
    {MendFirst, A::Refuse, F::Conflict, "conflict markers to mend first, {}"},
    {NoBase, A::Refuse, F::Edited, "edited, and the last render, which a merge needs, is not in .openreg-gen/pristine", forcible},
    {Unmergeable, A::Refuse, F::Edited, "edited; {}", forcible},

    {Taken, A::Update, F::Fine, "yours from now on"},
    {TakenAsIs, A::Keep, F::Fine, "yours from now on"},
    {GivenBack, A::Update, F::Edited, "given back"},
    {GivenBackMerged, A::Merge, F::Fine, "given back"},
    {GivenBackAsIs, A::Keep, F::Fine, "given back"},

    {Yours, A::Keep, F::Fine, ""},
    {YoursMoved, A::Keep, F::Fine, "yours, moved here from {}"},
    {YoursOutdated, A::Keep, F::Outdated, "yours; its signature changed"},
    {YoursDiffers, A::Keep, F::Fine, "yours; openreg-gen would now write it differently"},
    {TwoMarks, A::Refuse, F::Blocked, "gone, and its mark is in {}: leave it in one"},
    {AsAsked, A::Update, F::Fine, "edited, as you asked"},
    {EditedMeanwhile, A::Refuse, F::Blocked, "was edited just now"},

    {Ignored, A::Keep, F::Fine, "ignored from now on: neither written nor removed"},
    {Left, A::Keep, F::Extra, "yours, since you edited it; the spec no longer asks for it"},
    {LeftWithKernel, A::Keep, F::Extra, "stays with your kernel of {}"},
    {Gone, A::Remove, F::Extra, "no longer asked for"},
    {GoneElsewhere, A::Remove, F::Extra, "has another path now"},
    {GoneEdited, A::Keep, F::Extra, "no longer asked for, but edited: yours from now on"},
  });
}();
// clang-format on

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<std::size_t>(kRows[i].verdict) != i) return false;
  return kRows.back().verdict == Verdict::GoneEdited;
}
static_assert(in_order(), "one row for each verdict, in the order of the enum");

}  // namespace

std::span<const VerdictRow> all_verdicts() { return kRows; }

const VerdictRow& row_of(Verdict verdict) { return kRows.at(static_cast<std::size_t>(verdict)); }

}  // namespace openreg_gen
