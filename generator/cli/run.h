#pragma once

namespace openreg_gen {

/// Runs what was typed, `argv` as main() has it, and prints. Returns the exit code of the process; throws nothing.
int run_command(int argc, char** argv);

}  // namespace openreg_gen
