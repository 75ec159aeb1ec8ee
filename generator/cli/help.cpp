// openreg-gen help [VERB]: run.cpp reads it as `openreg-gen VERB --help`.
#include "cli/verb.h"

namespace openreg_gen {

Verb help_verb() {
  return {"help",
          "Print the help of a verb, like VERB --help",
          with_options<std::vector<std::string>>(
              [](CLI::App& app, Invocation&, std::vector<std::string>& verb) {
                app.add_option("VERB", verb, "A verb, or a verb and its subcommand: generate, ops show");
              },
              [](Invocation&, const std::vector<std::string>&) { return Exit::Done; }),
          {"help generate", "help ops show"}};
}

}  // namespace openreg_gen
