// A file becomes its owner's by a change of its class in the manifest, and is given back.
#pragma once

#include "tree/plan.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// A plan that makes the files at `paths` their owner's: the manifest says so, and their headers too. A path may be a
/// folder or a pattern, which stand for the files of the manifest. Files that are owned already are left out, unless
/// they are gone: those are never written from now on. The last render stays in .openreg-gen/pristine: giving a
/// shared file back merges from it. Throws Failure(BadInput, E0530) for a path that openreg-gen did not write.
Plan own_plan(const Disk& disk, const Manifest& manifest, const std::vector<std::string>& paths);

/// What giving back means, checked: the paths they are rendered to. Throws Failure(BadInput, E0530, E0532) for what was
/// not taken with `own`.
std::vector<std::string> check_disown(const Manifest& manifest, const std::vector<std::string>& paths);

}  // namespace openreg_gen
