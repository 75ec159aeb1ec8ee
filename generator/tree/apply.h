// Carries a plan out: all of it, or nothing.
#pragma once

#include "tree/plan.h"

#include <string>

namespace openreg_gen {

/// Writes everything beside the tree's files first, then swaps it into place, the manifest last (tree/journal.h). If a
/// step fails, or a file is no longer what the plan saw (E0522), what was done is taken back and the Failure goes on.
/// If the process is killed, `recover` finishes or takes back. What was replaced is kept for `undo`; `what` names the
/// run. A plan that is refused is not applied: ask Plan::refused first.
void apply_plan(Disk& disk, const Plan& plan, const std::string& what = "generate");

}  // namespace openreg_gen
