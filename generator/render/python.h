// Which Python renders.
#pragma once

#include <filesystem>
#include <vector>

namespace openreg_gen {

/// Candidates that exist, best first: $OPENREG_GEN_PYTHON alone if it is set; else the one beside the executable (the
/// virtual environment that openreg-gen was installed into), the active virtual environment's, python3 on PATH.
std::vector<std::filesystem::path> python_candidates();

}  // namespace openreg_gen
