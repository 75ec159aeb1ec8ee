// A generated or shared file becomes its owner's.
#pragma once

#include "tree/plan.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// A plan that makes the files at `paths` their owner's: the manifest says so, and their headers too, with the mark by
/// which they are found when they are moved. Files that are owned already are left out. What was rendered last stays in
/// .openreg-gen/pristine: giving a shared file back merges from it. Throws Failure(BadInput, E0530) for a path that
/// openreg-gen did not write or that is gone.
Plan own_plan(const Disk& disk, const Manifest& manifest, const std::vector<std::string>& paths);

/// What giving back means, checked: the paths they are rendered to. Throws Failure(BadInput, E0530, E0532) for what was
/// not taken with `own`.
std::vector<std::string> check_disown(const Manifest& manifest, const std::vector<std::string>& paths);

}  // namespace openreg_gen
