// Python installations, found by their folders, and started only if the folder doesn't say enough. Writes nothing
// except a note about shims in the cache. Only output_of() throws: see kHung.
#pragma once

#include "system/files.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// The environments that are active: $VIRTUAL_ENV, $CONDA_PREFIX. A variable that is not set has an empty path.
struct ActiveEnvironment {
  const char* variable;
  fs::path prefix;
};
std::vector<ActiveEnvironment> active_environments();

/// Pythons that may render and run tools, best first: $OPENREG_GEN_PYTHON alone if it is set; else those of the active
/// environments, python3 on PATH, the one beside the executable (of the virtual environment that openreg-gen was
/// installed into).
std::vector<fs::path> python_candidates();

/// The running executable, symlinks resolved; empty if it is not known.
fs::path executable_path();

/// Existing folders under a Python prefix or virtual environment that may hold packages, newest Python first.
/// `python` narrows them to one version: "python3.11", or empty.
std::vector<fs::path> site_packages_of_prefix(const fs::path& prefix, const std::string& python = {});

/// Folders from which this Python imports packages, the first first. A script in Python's place (a pyenv shim) is
/// started once; its answer is kept in the cache until the shim or what steers it changes.
std::vector<fs::path> site_packages_of_python(const fs::path& python);

/// The folders that the .pth files of a site-packages add to it, as Python's `site` reads them (code lines left out).
std::vector<fs::path> pth_folders(const fs::path& site_packages);

/// The prefix that this program itself is installed in, if that is a Python environment; else empty.
fs::path own_prefix();

}  // namespace openreg_gen
