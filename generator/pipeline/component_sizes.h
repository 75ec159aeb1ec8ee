// How large each component of a tree is.
#pragma once

#include "model/model.h"
#include "system/files.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

struct Size {
  std::size_t files = 0, lines = 0;  // lines of templates: what is rendered of them depends on the spec
  double seconds = 0;                // to build, as scripts/component_times.sh measured it
};

struct Sizes {
  std::map<std::string, Size> of;  // by name; under the empty one what each tree has
  std::string measured;            // how the seconds were: compiler, PyTorch, machine; empty: not at all
};

/// Files that are rendered once per operator are not counted.
Sizes component_sizes(const std::vector<Output>& outputs, const fs::path& templates);

/// Fills in "@files:NAME@", "@lines:NAME@" and "@seconds:NAME@" in the table of a tree's README. Lines are rounded to
/// two digits, so that small changes don't change that page.
std::string with_sizes(std::string text, const Sizes& sizes);

}  // namespace openreg_gen
