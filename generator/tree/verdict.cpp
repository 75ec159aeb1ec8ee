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
    {Blocked, A::Refuse, F::Blocked, "{}"},
    {Foreign, A::Refuse, F::Blocked, "exists, and openreg-gen did not write it", forcible},

    {Edited, A::Refuse, F::Edited, "edited{}", forcible},
    {YourEdits, A::Keep, F::Fine, "edited"},
    {MergeResult, A::Merge, F::Stale, "your edits and the new render"},
    {ResolvedSpec, A::Merge, F::Fine, "resolved"},
    {Conflict, A::Conflict, F::Conflict, "conflict, {}"},
    {ResolveFirst, A::Refuse, F::Conflict, "conflict markers to resolve first, {}"},

    {Taken, A::Update, F::Fine, "yours from now on"},
    {GivenBack, A::Update, F::Fine, "given back"},

    {Yours, A::Keep, F::Fine, ""},
    {YoursMoved, A::Keep, F::Fine, "yours, moved here from {}"},
    {YoursOutdated, A::Keep, F::Outdated, "yours; its signature changed"},
    {YoursUnread, A::Keep, F::Fine, "yours; its signature changed, and openreg-gen can't read yours: compare them"},
    {YoursDiffers, A::Keep, F::Fine, "yours; openreg-gen would now write a different one: `openreg-gen generate --diff`"},
    {AsAsked, A::Update, F::Fine, "edited, as you asked"},

    {Left, A::Keep, F::Extra, "no longer needed; kept, since {}"},
    {LeftWithKernel, A::Keep, F::Extra, "no longer needed; kept with your kernel of {}"},
    {Gone, A::Remove, F::Extra, "no longer needed"},
  });
}();
// clang-format on

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<std::size_t>(kRows[i].verdict) != i) return false;
  return kRows.back().verdict == Verdict::Gone;
}
static_assert(in_order(), "one row for each verdict, in the order of the enum");

}  // namespace

std::span<const VerdictRow> all_verdicts() { return kRows; }

const VerdictRow& row_of(Verdict verdict) { return kRows.at(static_cast<std::size_t>(verdict)); }

}  // namespace openreg_gen
