#include "cli/build_tree.h"

#include "base/text.h"
#include "system/child.h"

namespace openreg_gen {
namespace {

/// A variable of CMakeCache.txt: "Python_EXECUTABLE" -> "/usr/bin/python3".
std::string cached(std::string_view cache, const std::string& name) {
  for (const std::string_view line : split_lines(cache))
    if (line.starts_with(name + ":")) return std::string(line.substr(std::min(line.find('='), line.size() - 1) + 1));
  return {};
}

}  // namespace

bool BuildPrograms::exist() const { return is_program(python) && is_program(cmake); }

BuildPrograms build_programs(const OpenTree& tree) {
  const std::string cache = try_read_file(tree.root / "build" / "CMakeCache.txt").value_or("");
  return {cached(cache, "Python_EXECUTABLE"), cached(cache, "CMAKE_COMMAND"), !cache.empty()};
}

void build_tree(const OpenTree& tree, const BuildPrograms& programs) {
  if (run_program(tree.root, {programs.cmake, "--build", "build"}) != 0)
    throw Failure(Exit::No, "E0558", "the build failed", "the compiler's messages are above");
}

}  // namespace openreg_gen
