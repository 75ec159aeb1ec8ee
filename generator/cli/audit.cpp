// openreg-gen audit NAME: what an installed backend has and lacks. Python collects the facts, this file judges them.
#include "cli/adopt.h"
#include "cli/audit_view.h"
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "cli/workbench.h"
#include "cli/next.h"

namespace openreg_gen {
namespace {

struct AuditOptions {
  std::string device, package, html, against, model, from, save, timeout, baseline, card;
  bool no_samples = false;
};

void declare(CLI::App& app, Invocation& call, AuditOptions& options) {
  auto* device = app.add_option("NAME", options.device, "The backend's device type, or cpu");
  app.add_option("--import", options.package,
                 "A module to import first; a backend that `import torch` loads needs none")
      ->type_name("PACKAGE");
  app.add_option("--html", options.html, "Also write one self-contained page; - for stdout")->type_name("FILE");
  app.add_option("--model", options.model, "A recorded model (`openreg-gen record`): list what it needs first")
      ->type_name("FILE");
  app.add_option("--against", options.against, "Another PyTorch: report which operators with kernels it changes")
      ->type_name("DIR");
  app.add_option("--timeout", options.timeout, "Time limit in seconds per call of an interface; default: 60")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  app.add_flag("--no-samples", options.no_samples, "Don't call operators to find out which dtypes they take");
  app.add_option("--save", options.save, "Save the audit, for --from")->type_name("FILE");
  app.add_option("--from", options.from, "Read an audit that --save wrote, without running Python")
      ->type_name("FILE")
      ->excludes(device);
  app.add_option("--baseline", options.baseline, "An earlier audit, or another backend's (--save): report what differs")
      ->type_name("FILE");
  app.add_option("--card", options.card, "Also write the figures alone: one page, or JSON if FILE ends in .json")
      ->type_name("FILE");
  call.add_json(app);
  call.add_torch(app, "PyTorch to read the operators from; default: the audited one");
}

/// Python's findings as JSON text; nothing if it failed, which it has reported.
std::optional<std::string> found(const AuditOptions& options, Exit& exit) {
  const TemporaryFolder folder;
  const fs::path file = options.save.empty() ? folder.path() / "audit.json" : fs::absolute(options.save);
  std::vector<std::string> words = {"--device", options.device, "--json", file.string(), "--quiet"};
  if (!options.package.empty()) words.insert(words.end(), {"--import", options.package});
  if (!options.timeout.empty()) words.insert(words.end(), {"--timeout", options.timeout});
  if (options.no_samples) words.push_back("--no-samples");
  exit = run_tool("audit", words);
  if (exit != Exit::Done) return std::nullopt;
  return read_file(file, "E0506", "the audit has just written it");
}

/// The declarations of the audited PyTorch, or of --torch.
const Catalog& catalog_of(Invocation& call, const AuditDocument& document, std::optional<Catalog>& own) {
  std::error_code error;
  if (!call.torch() && !document.torch_dir.empty() && fs::is_directory(document.torch_dir, error))
    return own.emplace(load_catalog(find_torch(document.torch_dir)));
  return call.catalog();
}

/// An audit that --save wrote, judged; nothing after an error, which is reported.
std::optional<AuditBaseline> baseline_of(Invocation& call, const std::string& file, const Catalog& catalog) {
  const std::string text = read_file(file, "E0506", "name a file that --save wrote");
  Diagnostics diagnostics;
  auto document = parse_audit(text, file, diagnostics);
  diagnostics.finish(text);
  if (call.report(diagnostics) || !document) return std::nullopt;
  AuditReport report = judge_audit(*document, catalog, nullptr, nullptr);
  return AuditBaseline{std::move(*document), std::move(report), {}};
}

Exit run(Invocation& call, const AuditOptions& options) {
  if (options.device.empty() && options.from.empty())
    throw Failure(Exit::BadInput, "E0500", "which backend? NAME is required",
                  "name its device type: openreg-gen audit mybackend");
  Exit exit = Exit::Done;
  const std::optional<std::string> text =
      options.from.empty() ? found(options, exit) : read_file(options.from, "E0506", "name a file that --save wrote");
  if (!text) {
    if (call.json)
      throw Failure(exit, "E0572", "'" + options.device + "' can't be audited",
                    "Python's message is on standard error");
    return exit;
  }
  Diagnostics diagnostics;
  const auto document = parse_audit(*text, options.from.empty() ? "the audit" : options.from, diagnostics);
  diagnostics.finish(*text);
  if (call.report(diagnostics) || !document) return Exit::BadInput;

  std::optional<OpsFile> model;
  if (!options.model.empty()) {
    Diagnostics of_model;
    model = read_ops_file(options.model, of_model);
    if (call.report(of_model) || !model) return Exit::BadInput;
  }
  std::optional<Catalog> own, next;
  const Catalog& catalog = catalog_of(call, *document, own);
  if (!options.against.empty()) next = load_catalog(find_torch(options.against));
  const AuditReport report = judge_audit(*document, catalog, model ? &*model : nullptr, next ? &*next : nullptr);
  std::optional<AuditBaseline> baseline;
  if (!options.baseline.empty()) {
    baseline = baseline_of(call, options.baseline, catalog);
    if (!baseline) return Exit::BadInput;
    baseline->comparison = compare_audits(report, *document, baseline->report, baseline->document);
  }
  const AuditSubject subject{*document, model ? fs::path(options.model).filename().string() : "",
                             next ? next->torch_version() : "", baseline ? &*baseline : nullptr};
  if (!options.card.empty()) {
    const bool json = options.card.ends_with(".json");
    write_page(options.card, json ? audit_card_json(report, subject).dump(1) + "\n" : audit_card_html(report, subject));
  }
  if (!options.html.empty()) write_page(options.html, audit_html(report, subject));
  if (options.html == "-") return Exit::Done;
  constexpr std::size_t kLeast = 80, kMost = 120;
  std::string shown = audit_text(report, subject, std::clamp(terminal_width(), kLeast, kMost));
  if (options.html.empty()) {
    const std::string again = options.from.empty() ? options.device : "--from " + shell_quoted(options.from);
    shown += "\nNext:\n  openreg-gen audit " + again + " --html audit.html\n";
  }
  return call.answer(audit_json(report, subject), shown);
}

}  // namespace

Verb audit_verb() {
  return {"audit",
          "Show what an installed backend lacks (operators, interfaces, dtypes) and what serves each operator",
          with_options<AuditOptions>(declare, run),
          {"audit mybackend", "audit mybackend --html audit.html", "audit mybackend --model ops.json --html audit.html",
           "audit mybackend --import my_package --against torch-2.15.0", "audit mybackend --save audit.json",
           "audit mybackend --baseline audit.json --card card.html", "audit --from audit.json --json"}};
}

}  // namespace openreg_gen
