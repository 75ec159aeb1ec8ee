// openreg-gen schema: what is printed from the tables of keys and codes.
#include "cli/cli.h"
#include "diag/codes.h"
#include "spec/json_schema.h"

#include <cstdio>
#include <memory>

namespace openreg_gen {

void add_schema(CLI::App& app, Session& session) {
  struct Options {
    bool markdown = false, diagnostics = false;
  };
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("schema", "Print the JSON Schema of the spec, for editors");
  auto* markdown = verb->add_flag("--markdown", options->markdown, "the reference page of the keys instead");
  verb->add_flag("--diagnostics", options->diagnostics, "the reference page of the diagnostic codes instead")
      ->excludes(markdown);
  verb->callback([options, &session] {
    session.action = [options] {
      const auto text = options->markdown      ? spec_markdown()
                        : options->diagnostics ? codes_markdown()
                                               : spec_json_schema();
      std::fputs(text.c_str(), stdout);
      return Exit::Done;
    };
  });
}

}  // namespace openreg_gen
