// Python installations, told from their folders; none is started where the folder tells enough. Read-only but for a
// note in the cache about shims. Nothing here throws.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace openreg_gen {

/// The executable `name` on $PATH, not resolved; empty if there is none.
std::filesystem::path find_program(const std::string& name);

/// Existing folders under a Python prefix or virtual environment that may hold packages, newest Python first.
/// `python` narrows them to one version: "python3.11", or empty.
std::vector<std::filesystem::path> site_packages_of_prefix(const std::filesystem::path& prefix,
                                                           const std::string& python = {});

/// Folders from which this Python imports packages, the first first. A script in Python's place (a pyenv shim) is
/// started once; its answer is kept in the cache until the shim or what steers it changes.
std::vector<std::filesystem::path> site_packages_of_python(const std::filesystem::path& python);

/// The prefix that this program itself is installed in, if that is a Python environment; else empty.
std::filesystem::path own_prefix();

/// What a command prints (stdout), at most 64 KiB; empty if it cannot be run or fails. Never through a shell.
std::string output_of(const std::vector<std::string>& command);

}  // namespace openreg_gen
