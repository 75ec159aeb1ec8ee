// The git repository of a new tree.
#pragma once

#include "system/files.h"

#include <string>

namespace openreg_gen {

/// The folder of the repository that a file in `folder` would belong to; empty if there is none. `folder` need not
/// exist.
fs::path repository_around(const fs::path& folder);

/// Makes `root` a repository, with one commit of all its files. Why that failed, as git says it; empty if it worked.
std::string start_repository(const fs::path& git, const fs::path& root, const std::string& message);

/// One command for a shell, which does the same.
std::string repository_command(const std::string& root, const std::string& message);

}  // namespace openreg_gen
