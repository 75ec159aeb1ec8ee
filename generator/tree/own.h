// `own` and `disown`: change the class of a file in the manifest.
#pragma once

#include "tree/plan.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// A plan that makes the files at `paths` their owner's: the manifest says so, and their headers too. A path may be a
/// folder or a pattern, which stand for the files of the manifest. Files that are owned already are left out, unless
/// they were deleted: those are never written from now on. The last render stays in .openreg-gen/pristine, since
/// `disown` of a shared file merges from it. Throws Failure(BadInput, E0530) for a path that openreg-gen did not write.
Plan own_plan(const Disk& disk, const Manifest& manifest, const std::vector<std::string>& paths);

/// Checks files to disown, and returns the paths that they are rendered to. Throws Failure(BadInput, E0530, E0532) for
/// files that were not taken with `own`.
std::vector<std::string> check_disown(const Manifest& manifest, const std::vector<std::string>& paths);

}  // namespace openreg_gen
