// Options that take one of a few words.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace openreg_gen {

/// The words, as CLI11 describes them in the option's type, "{a,b}"; none for other options.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace openreg_gen
