// Unified diffs of two texts, by lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// As `diff -u` prints it, with three lines of context; empty if the texts are equal. `colour`: ANSI escapes. Control
/// characters of the texts (other than tabs) are shown as '?' when coloured, so that a file cannot drive a terminal.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name, bool colour);

/// For each line of `after`, the same line of `before`, from 1; 0 if there is none.
std::vector<int> lines_before(std::string_view before, std::string_view after);

}  // namespace openreg_gen
