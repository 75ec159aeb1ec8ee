// What is printed when the command line is wrong, or when a run fails.
#pragma once

#include "diag/failure.h"

#include <CLI/CLI.hpp>

#include <string>

namespace openreg_gen {

/// Prints help or version if that was asked for (0), else what is wrong, with did-you-mean for verbs and flags (2).
int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv);

/// `openreg-gen: error[E0501]: ...` and the hint on stderr; with `json`, the diagnostics form on stdout. Returns the
/// exit code.
int print_failure(const Failure& failure, bool json);

/// A message of one of the tool's own codes, without ending the run.
void print_error(const std::string& code, const std::string& message, const std::string& hint);

}  // namespace openreg_gen
