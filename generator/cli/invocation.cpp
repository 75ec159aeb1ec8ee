#include "cli/invocation.h"

#include "base/text.h"
#include "diag/failure.h"
#include "diag/render.h"

#include <cstdio>
#include <unistd.h>

namespace openreg_gen {

void Invocation::add_json(CLI::App& verb) {
  verb.add_flag("--json{-}", json_file_, "Print one JSON object instead of the text; with FILE, write it there, too")
      ->each([this](const std::string& file) { json = file == "-"; })
      ->type_name(kOptionalFile);
}

void Invocation::add_torch(CLI::App& verb, const char* about) {
  verb.add_option("--torch", torch_, about)->type_name("DIR");
}

CLI::Option* Invocation::add_tree(CLI::App& verb, const char* about) {
  return verb.add_option("-C", folder, about)->type_name("DIR");
}

CLI::Option* Invocation::add_error_format(CLI::App& verb) {
  const auto choose = [this](const std::string& format) { github = format == "github"; };
  return verb
      .add_option_function<std::string>("--error-format", choose, "github: errors as annotations of GitHub Actions")
      ->check(CLI::IsMember({"text", "github"}))
      ->excludes("--json");
}

std::optional<fs::path> Invocation::torch() const {
  return torch_.empty() ? std::nullopt : std::optional<fs::path>(torch_);
}

const Catalog& Invocation::catalog() {
  if (!catalog_) catalog_ = load_catalog(find_torch(torch()));
  return *catalog_;
}

std::vector<std::string> Invocation::operators(const OpenTree& tree) {
  Diagnostics ignored;
  const ResolvedSpec resolved = expand_ops(parse_spec(tree.root / tree.manifest.spec, ignored), catalog(), ignored);
  auto names = mapped(resolved.ops, [](const ResolvedOp& each) { return each.op.name; });
  for (const CustomOpSpec& each : resolved.spec.custom_ops)
    names.push_back(each.schema->substr(0, each.schema->find('(')));
  return names;
}

std::optional<ResolvedSpec> Invocation::valid(Spec parsed, Diagnostics& diagnostics) {
  try {
    catalog();
  } catch (const Failure&) {
    diagnostics.finish(parsed.text);
    if (report(diagnostics)) return std::nullopt;
    throw;
  }
  ResolvedSpec resolved = resolve(std::move(parsed), catalog(), diagnostics);
  if (report(diagnostics)) return std::nullopt;
  return resolved;
}

bool Invocation::report(const Diagnostics& found) const {
  Diagnostics diagnostics;
  for (Diagnostic each : found.all()) {
    if (read_lines_ && each.at.line > 0 && each.at.line <= std::ssize(*read_lines_)) {
      each.at.line = (*read_lines_)[static_cast<std::size_t>(each.at.line - 1)];
      if (each.at.line == 0) {
        each.message = fmt::format("in '{}', which would be written: {}", trimmed(each.source_line), each.message);
        each.at = {};
      }
    }
    diagnostics.add(std::move(each));
  }
  const bool errors = diagnostics.has_errors();
  if (format() == ErrorFormat::Text) {
    std::fputs(render_text(diagnostics, colour_wanted(STDERR_FILENO)).c_str(), stderr);
  } else if (errors || github) {
    print_diagnostics(diagnostics, format());
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
