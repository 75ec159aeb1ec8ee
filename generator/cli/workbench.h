// Starts the tools that run inside PyTorch: the Python package openreg_gen in generator/workbench, which examines an
// installed backend. Uses the environment's Python, with the command's own copy of the package.
#pragma once

#include "cli/verb.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// The first of python_candidates() whose packages hold torch. Throws Failure(Environment, E0559) if none does.
fs::path find_torch_python();

/// Runs `python -m openreg_gen.MODULE WORDS...` in the current folder, with this process's own streams. Returns its
/// exit code, with the same meaning as the command's. Throws Failure(Environment): E0559, E0605, E0608.
Exit run_tool(const std::string& module, const std::vector<std::string>& words);

/// The verbs that pass all their words to the tool of the same name, which options.json of the workbench describes.
std::vector<Verb> tool_verbs();

}  // namespace openreg_gen
