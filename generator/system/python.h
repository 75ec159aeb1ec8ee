// Python installations, found by their folders; none is started where the folder says enough. Read-only but for a
// note in the cache about shims. Nothing here throws.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace openreg_gen {

/// The environments that are active: $VIRTUAL_ENV, $CONDA_PREFIX. A variable that is not set has an empty path.
struct ActiveEnvironment {
  const char* variable;
  std::filesystem::path prefix;
};
std::vector<ActiveEnvironment> active_environments();

/// Pythons that may render, best first: $OPENREG_GEN_PYTHON alone if it is set; else the one beside the executable (the
/// virtual environment that openreg-gen was installed into), those of the active environments, python3 on PATH.
std::vector<std::filesystem::path> python_candidates();

/// The running executable, symlinks resolved; empty if it is not known.
std::filesystem::path executable_path();

/// Existing folders under a Python prefix or virtual environment that may hold packages, newest Python first.
/// `python` narrows them to one version: "python3.11", or empty.
std::vector<std::filesystem::path> site_packages_of_prefix(const std::filesystem::path& prefix,
                                                           const std::string& python = {});

/// Folders from which this Python imports packages, the first first. A script in Python's place (a pyenv shim) is
/// started once; its answer is kept in the cache until the shim or what steers it changes.
std::vector<std::filesystem::path> site_packages_of_python(const std::filesystem::path& python);

/// The prefix that this program itself is installed in, if that is a Python environment; else empty.
std::filesystem::path own_prefix();

}  // namespace openreg_gen
