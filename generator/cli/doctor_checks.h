// Checks everything that building a backend needs. Starts compilers, CMake and Python to get their versions; writes
// nothing.
#pragma once

#include "spec/kernel_language.h"
#include "system/files.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace openreg_gen {

struct Check {
  std::string name;      // "CMake"
  bool required = true;  // a backend cannot be built without it
  bool ok = false;
  std::string found{};    // "3.31.6, /usr/bin/cmake"; or empty
  std::string problem{};  // what is wrong; empty if ok
  std::string remedy{};   // commands that fix it; empty if ok
};

/// The outside world, which tests replace.
struct Probe {
  std::function<fs::path(const std::string&)> find;                    // on PATH; empty if it is not there
  std::function<std::string(const std::vector<std::string>&)> output;  // stdout of a command; empty if it failed
  std::function<std::vector<fs::path>()> renderers;                    // Pythons that may render, best first
  std::function<fs::path()> torch;                                     // as find_torch; may throw Failure
  std::string backend{};                                               // of the tree at hand; empty outside of trees
};
Probe real_probe(const std::optional<fs::path>& torch, const std::string& backend);

std::vector<Check> run_checks(const Probe& probe);

/// Requirements for building a tree with kernels in the language.
std::vector<Check> run_language_checks(const Probe& probe, const KernelLanguage& language);

/// The devices for `device: {api: opencl}`, and what each lacks. Runs clinfo, since this command is built without
/// OpenCL.
std::vector<Check> run_opencl_checks(const Probe& probe);

/// -1, 0, 1 as a is less than, equal to or greater than b: "3.9" < "3.22" < "3.22.1".
int compare_versions(const std::string& a, const std::string& b);

}  // namespace openreg_gen
