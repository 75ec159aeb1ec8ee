// openreg-gen schema: prints the tables of keys and codes.
#include "cli/verb.h"
#include "diag/codes.h"
#include "spec/keys.h"

namespace openreg_gen {
namespace {

struct SchemaOptions {
  bool markdown = false, diagnostics = false;
};

void declare(CLI::App& app, Invocation&, SchemaOptions& options) {
  auto* markdown = app.add_flag("--markdown", options.markdown, "Print the reference page of the keys instead");
  app.add_flag("--diagnostics", options.diagnostics, "Print the reference page of the diagnostic codes instead")
      ->excludes(markdown);
}

Exit run(Invocation&, const SchemaOptions& options) {
  print_text(options.markdown      ? spec_markdown(vocabulary())
             : options.diagnostics ? codes_markdown()
                                   : spec_json_schema(vocabulary()));
  return Exit::Done;
}

}  // namespace

Verb schema_verb() {
  return {"schema",
          "Print the JSON Schema of the spec, for editors",
          with_options<SchemaOptions>(declare, run),
          {"schema", "schema --markdown"}};
}

}  // namespace openreg_gen
