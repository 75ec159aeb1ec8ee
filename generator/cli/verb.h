// A verb is one value, made in the file of its name. A new one is that file and its line in cli/command.cpp.
#pragma once

#include "cli/invocation.h"
#include "diag/failure.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace openreg_gen {

using Run = std::function<Exit(Invocation&)>;

struct Verb {
  std::string name, about;
  std::function<Run(CLI::App& app, Invocation& call)> set_up;  // declares options; the result runs with what was given
  std::vector<std::string> examples{};                         // for --help, each without "openreg-gen"
  std::vector<Verb> parts{};                                   // verbs of its own: `ops show`
  std::map<std::string, std::string> renamed{};                // options that had another name: {"--save", "--out"}
  std::string group = "Subcommands";                           // its title in --help
  std::string exits{};                                         // its exit codes, where they say more than the command's
  std::string hint{};                                          // of a word too many
  std::string behind{};                                        // what may follow "--"; empty: nothing
  bool passes_on = false;                                      // all words behind it are another program's, too
};

/// Verb::set_up, from a function that declares the verb's own options and one that runs with them.
template <class Options>
auto with_options(void (*declare)(CLI::App& app, Invocation& call, Options& options),
                  Exit (*run)(Invocation& call, const Options& options)) {
  return [declare, run](CLI::App& app, Invocation& call) -> Run {
    auto options = std::make_shared<Options>();
    declare(app, call, *options);
    return [run, options](Invocation& chosen) { return run(chosen, *options); };
  };
}

/// Makes `app` the verb, with all its parts. The result runs the part that was chosen, else the verb itself.
Run set_up(const Verb& verb, CLI::App& app, Invocation& call);

/// Whether an option may precede a part, as in "openreg-gen -C tree status": the part has it, and all share its value.
bool goes_before(const CLI::Option& option, const CLI::App& part);

/// openreg-gen itself: its parts are the verbs, in the order of --help.
Verb command();

}  // namespace openreg_gen
