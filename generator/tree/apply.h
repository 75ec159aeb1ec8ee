// Carries a plan out: all of it, or nothing.
#pragma once

#include "tree/plan.h"

namespace openreg_gen {

/// Writes everything beside the tree's files first, then renames it all into place, the manifest last. If a step
/// fails, what was done is undone and the Failure goes on. If the process is killed, what is there by then is either
/// nothing, or a journal that `recover` carries out. A plan that is refused is not applied: ask Plan::refused first.
void apply_plan(Disk& disk, const Plan& plan);

/// True if a killed run has left work to finish.
bool needs_recovery(const Disk& disk);

/// Finishes what a killed run had begun to rename, or clears what it had only begun to write.
void recover(Disk& disk);

}  // namespace openreg_gen
