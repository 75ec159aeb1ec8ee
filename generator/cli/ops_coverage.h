#pragma once

#include "cli/cli.h"

#include <functional>

namespace openreg_gen {

/// Adds `coverage` below `ops`. If it is chosen, its callback sets `action` and `json`.
CLI::App* add_ops_coverage(CLI::App& ops, std::function<Exit()>& action, bool& json);

}  // namespace openreg_gen
