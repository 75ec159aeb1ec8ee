// What runs inside of PyTorch: tools in Python that examine an installed backend by its device's name, the package
// openreg_gen of generator/workbench. The command starts them with the environment's Python, its own copy first.
#pragma once

#include "cli/verb.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// The first of python_candidates() whose packages hold torch. Throws Failure(Environment, E0559) if none does.
fs::path find_torch_python();

/// Runs `python -m openreg_gen.MODULE WORDS...` in the current folder, with this process's own streams. Returns its
/// exit code, which has the meaning of the command's. Throws Failure(Environment): E0559, E0605, E0608.
Exit run_tool(const std::string& module, const std::vector<std::string>& words);

/// The verbs that hand all their words to the tool of their name.
std::vector<Verb> tool_verbs();

}  // namespace openreg_gen
