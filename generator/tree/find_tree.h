// Which generated tree a folder belongs to.
#pragma once

#include <filesystem>

namespace openreg_gen {

/// The nearest folder, from `start` (empty: the current folder) upwards, that holds a manifest or an unfinished run's
/// journal. Throws Failure(BadInput, E0502) if there is none.
std::filesystem::path find_tree(const std::filesystem::path& start);

}  // namespace openreg_gen
