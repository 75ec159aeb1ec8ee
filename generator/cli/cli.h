// The command line: one file a verb. A verb adds its subcommand and sets what is to be run; main() runs it.
#pragma once

#include "diag/failure.h"

#include <CLI/CLI.hpp>

#include <functional>

namespace openreg_gen {

struct Session {
  std::function<Exit()> action;  // set by the callback of the chosen subcommand
  bool json = false;             // a failure is to be JSON on stdout, too
};

void add_new(CLI::App& app, Session& session);
void add_generate(CLI::App& app, Session& session);
void add_add(CLI::App& app, Session& session);
void add_remove(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_status(CLI::App& app, Session& session);
void add_undo(CLI::App& app, Session& session);
void add_own(CLI::App& app, Session& session);
void add_disown(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_ops(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_schema(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);

}  // namespace openreg_gen
