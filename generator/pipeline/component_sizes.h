// How large each component of a tree is.
#pragma once

#include "model/model.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace openreg_gen {

struct Size {
  std::size_t files = 0, lines = 0;  // lines of templates: what is rendered of them depends on the spec
};

/// By name; under the empty one what each tree has. Files of operators, one an item of a list, are not counted.
std::map<std::string, Size> component_sizes(const std::vector<Output>& outputs, const std::filesystem::path& templates);

/// Fills in "@files:NAME@" and "@lines:NAME@", as the table of a tree's README has them. Lines are rounded to two
/// digits, so that small changes are none of that page's.
std::string with_sizes(std::string text, const std::map<std::string, Size>& sizes);

}  // namespace openreg_gen
