#include "cli/invocation.h"

#include "diag/failure.h"
#include "diag/render.h"

#include <cstdio>
#include <unistd.h>

namespace openreg_gen {

void Invocation::add_json(CLI::App& verb, const char* about) { verb.add_flag("--json", json, about); }

void Invocation::add_torch(CLI::App& verb, const char* about) {
  verb.add_option("--torch", torch_, about)->type_name("DIR");
}

CLI::Option* Invocation::add_tree(CLI::App& verb, const char* about) {
  return verb.add_option("-C", folder, about)->type_name("DIR");
}

std::optional<fs::path> Invocation::torch() const {
  return torch_.empty() ? std::nullopt : std::optional<fs::path>(torch_);
}

const Catalog& Invocation::catalog() {
  if (!catalog_) catalog_ = load_catalog(find_torch(torch()));
  return *catalog_;
}

std::optional<Resolved> Invocation::valid(Spec parsed, Diagnostics& diagnostics) {
  try {
    catalog();
  } catch (const Failure&) {
    diagnostics.finish(parsed.text);
    if (report(diagnostics)) return std::nullopt;
    throw;
  }
  Resolved resolved = resolve(std::move(parsed), catalog(), diagnostics);
  if (report(diagnostics)) return std::nullopt;
  return resolved;
}

bool Invocation::report(const Diagnostics& diagnostics) const {
  const bool errors = diagnostics.has_errors();
  if (!json) {
    std::fputs(render_text(diagnostics, colour_wanted(STDERR_FILENO)).c_str(), stderr);
  } else if (errors) {
    std::puts(render_json(diagnostics).c_str());
  }
  return errors;
}

bool Invocation::report_errors(Diagnostics& diagnostics, const Spec& spec) const {
  if (!diagnostics.has_errors()) return false;
  diagnostics.finish(spec.text);
  return report(diagnostics);
}

void Preview::add_to(CLI::App& verb) {
  CLI::Option* dry = verb.add_flag("--dry-run", dry_run, "Print what would be done; write nothing");
  verb.add_flag("--diff", diff, "Print what would be done as a diff; write nothing")->excludes(dry);
}

}  // namespace openreg_gen
