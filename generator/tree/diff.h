// Unified diffs of two texts, by lines.
#pragma once

#include <string>
#include <string_view>

namespace openreg_gen {

/// As `diff -u` prints it, with three lines of context; empty if the texts are equal. `colour`: ANSI escapes. Control
/// characters of the texts (other than tabs) are shown as '?' when coloured, so that a file cannot drive a terminal.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name, bool colour);

}  // namespace openreg_gen
