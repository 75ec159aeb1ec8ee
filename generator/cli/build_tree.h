// The build of a tree that exists already: what `test` and `try` begin with.
#pragma once

#include "cli/invocation.h"

#include <string>

namespace openreg_gen {

/// The programs that a tree was built with, by its CMakeCache.txt; empty where it was never built.
struct BuildPrograms {
  std::string python, cmake;
  bool built = false;  // there is a cache
  bool exist() const;  // both are still there
};
BuildPrograms build_programs(const OpenTree& tree);

/// `cmake --build`. Throws Failure(No, E0558) if it fails.
void build_tree(const OpenTree& tree, const BuildPrograms& programs);

}  // namespace openreg_gen
