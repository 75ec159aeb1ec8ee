#include "cli/doctor_checks.h"

#include "catalog/build.h"
#include "base/environment.h"
#include "base/text.h"
#include "diag/failure.h"
#include "releases/releases.h"
#include "system/child.h"
#include "system/python.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <sstream>

namespace openreg_gen {
namespace {

// Requirements of the generated tree.
constexpr auto kCmake = "3.22";
constexpr auto kPython = "3.10";
constexpr auto kJinja = "3.1";
constexpr auto kSetuptools = "64";         // the first that installs editable trees by PEP 660, with package wheel
constexpr auto kSetuptoolsAlone = "70.1";  // the first that needs no package wheel for it

// Packages that a build does without, and what needs them.
constexpr std::pair<const char*, const char*> kOptional[] = {
    {"wheel", "building a wheel needs"},
    {"pytest", "the tree's tests need"},
    {"pytest-timeout", "the tree's tests need"},
    {"expecttest", "PyTorch's samples in `test`, `try` and `sweep` need"}};

Check missing(std::string name, std::string problem, std::string remedy, bool required = true) {
  return {std::move(name), required, false, "", std::move(problem), std::move(remedy)};
}

/// The check, which fails if `version` is older than `least`, which may be empty; `why` follows the problem.
Check at_least(Check check, const std::string& version, const std::string& least, const std::string& why,
               const std::string& remedy) {
  if (least.empty() || compare_versions(version, least) >= 0) return check;
  check.ok = false;
  check.problem = fmt::format("older than {}{}", least, why);
  check.remedy = remedy;
  return check;
}

/// The first run of digits and dots: "cmake version 3.31.6\n..." -> "3.31.6".
std::string first_version(const std::string& text) {
  for (auto at = text.find_first_of("0123456789"); at != std::string::npos;
       at = text.find_first_of("0123456789", text.find_first_not_of("0123456789.", at))) {
    const auto end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    auto word = text.substr(at, end - at);
    word.erase(word.find_last_not_of('.') + 1);  // "1.13.2.git"
    if (word.find('.') != std::string::npos) return word;
    if (end == text.size()) break;
  }
  return {};
}

Check check_compiler(const Probe& probe) {
  const std::string remedy = "sudo apt-get install g++   (version 11 or newer), or clang++ 14 or newer; or set $CXX";
  const std::string chosen = environment("CXX");
  std::vector<std::string> names = {"c++", "g++", "clang++"};  // the order in which CMake looks
  if (!chosen.empty()) names = {chosen};
  for (const auto& name : names) {
    const auto path = name.find('/') == std::string::npos ? probe.find(name) : fs::path(name);
    if (path.empty()) continue;
    const auto banner = probe.output({path.string(), "--version"});
    if (banner.empty()) return missing("C++ compiler", path.string() + " does not run", remedy);
    const bool clang = banner.find("clang") != std::string::npos;
    const auto found = fmt::format("{} {}, {}", clang ? "clang" : "gcc", first_version(banner), path.string());
    // __cplusplus shows what the compiler makes of -std=c++20: 202002L once it knows the standard, less before.
    const auto macros = probe.output({path.string(), "-std=c++20", "-x", "c++", "-E", "-dM", "/dev/null"});
    const auto at = macros.find("#define __cplusplus ");
    const bool knows = at != std::string::npos && std::atol(macros.c_str() + at + 20) >= 202002;
    if (knows) return {"C++ compiler", true, true, found + ", C++20", "", ""};
    return {"C++ compiler", true, false, found, "it doesn't support C++20", remedy};
  }
  return missing("C++ compiler",
                 chosen.empty() ? "none on PATH (c++, g++, clang++)" : fmt::format("$CXX = {} is not there", chosen),
                 remedy);
}

/// A program whose `--version` names its version; `least` may be empty.
Check check_program(const Probe& probe, const std::string& name, const std::string& program, const std::string& least,
                    const std::string& remedy, bool required) {
  const auto path = probe.find(program);
  if (path.empty()) return missing(name, "not on PATH", remedy, required);
  const auto version = first_version(probe.output({path.string(), "--version"}));
  if (version.empty()) return missing(name, path.string() + " does not run", remedy, required);
  return at_least({name, required, true, fmt::format("{}, {}", version, path.string())}, version, least, "", remedy);
}

/// One Python child answers for Python and the packages it can import: lines "name version".
std::map<std::string, std::string> ask_python(const Probe& probe, const fs::path& python) {
  const auto answer =
      probe.output({python.string(), "-c",
                    "import sys\n"
                    "from importlib import metadata\n"
                    "print('python', '%d.%d.%d' % sys.version_info[:3])\n"
                    "for name in ('jinja2', 'wheel', 'setuptools', 'pytest', 'pytest_timeout', 'expecttest'):\n"
                    "    try:\n"
                    "        __import__(name)\n"
                    "        print(name, metadata.version(name))\n"
                    "    except Exception:\n"
                    "        pass\n"
                    "try:\n"
                    "    for entry in metadata.entry_points(group='torch.backends'):\n"
                    "        print(f'backend:{entry.dist.name}:{entry.name}', entry.dist.version)\n"
                    "except Exception:\n"
                    "    pass\n"});
  std::map<std::string, std::string> versions;
  std::istringstream lines(answer);
  for (std::string name, version; lines >> name >> version;) versions[name] = version;
  return versions;
}

/// A package that a Python has, or lacks: `versions` as ask_python gives them.
Check check_package(const std::string& name, const std::string& module, const std::string& least,
                    const fs::path& python, const std::map<std::string, std::string>& versions) {
  const auto remedy = fmt::format("{} -m pip install '{}>={}'   (or: sudo apt-get install python3-{})", python.string(),
                                  module, least, module);
  const auto found = versions.find(module);
  if (found == versions.end()) return missing(name, fmt::format("{} cannot import it", python.string()), remedy);
  return at_least({name, true, true, fmt::format("{}, {}", found->second, python.string())}, found->second, least, "",
                  remedy);
}

/// What building a wheel and the tests of a tree need beside PyTorch.
Check check_optional(const std::string& package, const std::string& what, const fs::path& python,
                     const std::map<std::string, std::string>& versions) {
  std::string module = package;
  std::ranges::replace(module, '-', '_');
  const auto found = versions.find(module);
  if (found != versions.end())
    return {package, false, true, fmt::format("{}, {}", found->second, python.string()), "", ""};
  return missing(package, fmt::format("{} cannot import it; only {} it", python.string(), what),
                 fmt::format("{} -m pip install {}", python.string(), package), false);
}

/// The backends that `import torch` loads in this Python: their entry points, of which those of openreg-gen's trees
/// have the device's name. Only one of them can have PrivateUse1. `wanted`: the device's name that the tree at hand
/// has.
Check check_backends(const fs::path& python, const std::map<std::string, std::string>& versions,
                     const std::string& wanted) {
  Check check{"backends", false, true, "", "", ""};
  std::vector<std::string> names, others;
  for (const auto& [key, version] : versions) {
    const auto second = key.rfind(':');
    if (!key.starts_with("backend:") || second < 8) continue;
    const std::string package = key.substr(8, second - 8);
    names.push_back(key.substr(second + 1));
    if (names.back() != wanted) others.push_back(package);
    check.found += fmt::format("{}'{}' by {} {}", names.size() == 1 ? "" : ", ", names.back(), package, version);
  }
  if (names.size() < 2) {
    check.found = fmt::format("{}, {}", names.empty() ? "none installed" : check.found, python.string());
    return check;
  }
  check.ok = false;
  check.problem = "a process can load one backend for PrivateUse1, and `import torch` loads the first that it finds";
  const bool known = contains(names, wanted);
  check.remedy =
      fmt::format("an environment for each, or set TORCH_DEVICE_BACKEND={}{}", known ? wanted : names.front(),
                  known ? fmt::format("; or, to keep the tree's '{}' alone: {} -m pip uninstall {}", wanted,
                                      python.string(), fmt::join(others, " "))
                        : fmt::format(" or {}, whichever a script is for", names.back()));
  return check;
}

/// The Python that builds and runs the backend, and its setuptools; then the one that renders, which may be another:
/// the one that openreg-gen is installed with.
void check_python(const Probe& probe, std::vector<Check>& checks) {
  auto python = probe.find("python3");
  if (python.empty()) python = probe.find("python");
  const std::string install = "sudo apt-get install python3 python3-venv";
  const auto versions = python.empty() ? std::map<std::string, std::string>{} : ask_python(probe, python);
  if (!versions.contains("python")) {
    checks.push_back(missing("Python", python.empty() ? "not on PATH" : python.string() + " does not run", install));
    for (const char* name : {"setuptools", "Jinja2"}) checks.push_back(missing(name, "needs Python", install));
    for (const auto& [package, what] : kOptional) checks.push_back(missing(package, "needs Python", install, false));
    return;
  }
  const auto& version = versions.at("python");
  checks.push_back(at_least({"Python", true, true, fmt::format("{}, {}", version, python.string())}, version, kPython,
                            fmt::format(", which PyTorch {} needs", kOldestTorch), install));
  checks.push_back(check_package("setuptools", "setuptools",
                                 versions.contains("wheel") ? kSetuptools : kSetuptoolsAlone, python, versions));
  auto jinja = check_package("Jinja2", "jinja2", kJinja, python, versions);
  for (const auto& renderer : probe.renderers()) {
    auto other = check_package("Jinja2", "jinja2", kJinja, renderer, ask_python(probe, renderer));
    if (!other.ok) continue;
    jinja = std::move(other);
    break;
  }
  checks.push_back(std::move(jinja));
  for (const auto& [package, what] : kOptional) checks.push_back(check_optional(package, what, python, versions));
  checks.push_back(check_backends(python, versions, probe.backend));
}

Check check_torch(const Probe& probe) {
  try {
    const auto sources = find_sources(probe.torch());
    const auto found = fmt::format("{}, {}", sources.version, sources.torch.string());
    const auto release = torch_release(sources.version);
    std::string problem;
    if (sources.declarations.empty())
      problem = "only declarations: enough for `ops` and `check`, but not for a build";
    else if (!fs::exists(sources.torch / "include/torch/library.h"))
      problem = "its C++ headers are missing (include/torch/library.h)";
    else if (release < torch_release(kOldestTorch) || release > torch_release(kNewestTorch))
      problem = fmt::format("outside the supported range, {} to {}", kOldestTorch, kNewestTorch);
    if (problem.empty()) return {"PyTorch", true, true, found + ", with headers", "", ""};
    return {"PyTorch", true, false, found, problem, install_torch()};
  } catch (const Failure& failure) {
    return missing("PyTorch", failure.what(), failure.hint());
  }
}

/// Its headers, wherever the compiler looks; the tests' CMake finds the rest beside them.
Check check_googletest(const Probe& probe) {
  const std::string remedy = "sudo apt-get install libgtest-dev libgmock-dev";
  for (const char* name : {"c++", "g++", "clang++"}) {
    const auto path = probe.find(name);
    if (path.empty()) continue;
    const auto macros =
        probe.output({path.string(), "-std=c++20", "-x", "c++", "-E", "-dM", "-include", "gtest/gtest.h", "/dev/null"});
    if (!macros.empty()) return {"GoogleTest", false, true, "headers found", "", ""};
    break;
  }
  return missing("GoogleTest", "not found; only the backend's C++ tests need it", remedy, false);
}

}  // namespace

int compare_versions(const std::string& a, const std::string& b) {
  const char *x = a.data(), *x_end = x + a.size(), *y = b.data(), *y_end = y + b.size();
  while (x != x_end || y != y_end) {
    int left = 0, right = 0;
    x = std::from_chars(x, x_end, left).ptr;
    y = std::from_chars(y, y_end, right).ptr;
    if (left != right) return left < right ? -1 : 1;
    // Past the dot; anything else ("rc1") ends the comparison.
    if (x != x_end) x = *x == '.' ? x + 1 : x_end;
    if (y != y_end) y = *y == '.' ? y + 1 : y_end;
  }
  return 0;
}

Probe real_probe(const std::optional<fs::path>& torch, const std::string& backend) {
  return {find_program, output_of, python_candidates, [torch] { return find_torch(torch); }, backend};
}

std::vector<Check> run_language_checks(const Probe& probe, const KernelLanguage& language) {
  const std::string chosen = environment("CXX");
  const auto compiler = probe.find(chosen.empty() ? "c++" : chosen);
  std::vector<Check> checks;
  for (const KernelLanguage::Requirement& need : language.needs) {
    Check& check = checks.emplace_back(Check{.name = std::string(need.name)});
    if (!need.program.empty()) {
      check.ok = !probe.find(std::string(need.program)).empty();
    } else if (!compiler.empty()) {
      const std::vector<std::string> command = {compiler.string(),        "-x",       "c++", "-E", "-include",
                                                std::string(need.header), "/dev/null"};
      check.ok = !probe.output(command).empty();
    }
    if (check.ok) continue;
    check.problem = need.problem;
    check.remedy = need.remedy;
  }
  return checks;
}

std::vector<Check> run_checks(const Probe& probe) {
  std::vector<Check> checks;
  checks.push_back(check_compiler(probe));
  checks.push_back(
      check_program(probe, "CMake", "cmake", kCmake, "sudo apt-get install cmake   (or: pip install cmake)", true));
  checks.push_back(
      check_program(probe, "ninja", "ninja", "", "sudo apt-get install ninja-build   (or: pip install ninja)", true));
  check_python(probe, checks);
  checks.push_back(check_torch(probe));
  checks.push_back(check_googletest(probe));
  auto ccache = check_program(probe, "ccache", "ccache", "", "sudo apt-get install ccache", false);
  if (probe.find("ccache").empty()) ccache.problem += "; makes repeated builds faster";
  checks.push_back(std::move(ccache));
  return checks;
}

}  // namespace openreg_gen
