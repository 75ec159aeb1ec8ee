// openreg-gen audit NAME: what an installed backend has and lacks. Python collects the facts, this file judges them.
#include "cli/adopt.h"
#include "cli/audit_view.h"
#include "cli/terminal_text.h"
#include "cli/verb.h"
#include "cli/workbench.h"
#include "cli/next.h"

#include <cstdlib>

namespace openreg_gen {
namespace {

struct AuditOptions {
  std::string device, package, html, against, model, saved, out, timeout, baseline, card;
  bool no_samples = false;
};

void declare(CLI::App& app, Invocation& call, AuditOptions& options) {
  auto* device = app.add_option("--device", options.device,
                                "The backend's device type, or cpu; default: that of the tree around the current "
                                "folder, else the one that is loaded")
                     ->type_name("NAME");
  app.add_option("--import", options.package,
                 "A module to import first; a backend that `import torch` loads by itself needs none")
      ->type_name("PACKAGE");
  app.add_flag("--html{-}", options.html,
               "Print one self-contained page instead of the text; with FILE, write it there, too")
      ->type_name(kOptionalFile);
  app.add_option("--model", options.model, "A recorded model (`openreg-gen record`): list what it needs first")
      ->type_name("FILE");
  app.add_option("--against", options.against, "Another PyTorch: report which operators with kernels it changes")
      ->type_name("DIR");
  app.add_option("--timeout", options.timeout, "Time limit in seconds per call of an interface; default: 60")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  app.add_flag("--no-samples", options.no_samples, "Don't call operators to find out which dtypes they take");
  app.add_option("-o,--out", options.out, "Save the audit, for --saved and --baseline")->type_name("FILE");
  app.add_option("--saved", options.saved, "Read an audit that --out wrote, without running Python")
      ->type_name("FILE")
      ->excludes(device);
  app.add_option("--baseline", options.baseline, "An earlier audit, or another backend's (--out): report what differs")
      ->type_name("FILE");
  app.add_option("--card", options.card, "Also write the figures alone: one page, or JSON if FILE ends in .json")
      ->type_name("FILE");
  call.add_json(app);
  call.add_torch(app, "PyTorch to read the operators from; default: the audited one");
}

/// The backend of the tree around the current folder; empty outside of one.
std::string backend_here(Invocation& call) {
  try {
    const OpenTree tree = call.tree(Access::Read);
    Diagnostics ignored;
    return *parse_spec(tree.root / tree.manifest.spec, ignored).backend.name;
  } catch (const Failure&) {
    return {};
  }
}

/// Python's findings as JSON text; nothing if it failed, which it has reported.
std::optional<std::string> found(Invocation& call, const AuditOptions& options, Exit& exit) {
  const TemporaryFolder folder;
  const fs::path file = options.out.empty() ? folder.path() / "audit.json" : fs::absolute(options.out);
  std::vector<std::string> words = {"--json", file.string(), "--quiet"};
  const bool named = !options.device.empty() || !options.package.empty();
  const std::string device = named ? options.device : backend_here(call);
  if (!device.empty()) words.insert(words.end(), {"--device", device});
  if (!named && !device.empty()) setenv("TORCH_DEVICE_BACKEND", device.c_str(), 0);  // of several that are installed
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

/// An audit that --out wrote, judged; nothing after an error, which is reported.
std::optional<AuditBaseline> baseline_of(Invocation& call, const std::string& file, const Catalog& catalog) {
  const std::string text = read_file(file, "E0506", "name a file that --out wrote");
  Diagnostics diagnostics;
  auto document = parse_audit(text, file, diagnostics);
  diagnostics.finish(text);
  if (call.report(diagnostics) || !document) return std::nullopt;
  AuditReport report = judge_audit(*document, catalog, nullptr, nullptr);
  return AuditBaseline{std::move(*document), std::move(report), {}};
}

Exit run(Invocation& call, const AuditOptions& options) {
  Exit exit = Exit::Done;
  const std::optional<std::string> text = options.saved.empty()
                                              ? found(call, options, exit)
                                              : read_file(options.saved, "E0506", "name a file that --out wrote");
  if (!text) {
    if (call.json)
      throw Failure(exit, "E0572", "the backend can't be audited", "Python's message is on standard error");
    return exit;
  }
  Diagnostics diagnostics;
  const auto document = parse_audit(*text, options.saved.empty() ? "the audit" : options.saved, diagnostics);
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
    write_file(options.card, json ? audit_card_json(report, subject).dump(1) + "\n" : audit_card_html(report, subject));
  }
  if (!options.html.empty()) write_file(options.html, audit_html(report, subject));
  if (options.html == "-" && !call.json) return Exit::Done;
  constexpr std::size_t kLeast = 80, kMost = 120;
  std::string shown = audit_text(report, subject, std::clamp(terminal_width(), kLeast, kMost));
  if (options.html.empty()) {
    const std::string again = !options.saved.empty() ? "--saved " + shell_quoted(options.saved)
                              : !options.out.empty() ? "--saved " + shell_quoted(options.out)
                                                     : "--device " + document->device;
    shown += "\nNext:\n  openreg-gen audit " + again + " --html=audit.html\n";
  }
  return call.answer(audit_json(report, subject), shown);
}

}  // namespace

Verb audit_verb() {
  Verb verb{"audit",
            "Show what an installed backend lacks (operators, interfaces, dtypes) and what serves each operator",
            with_options<AuditOptions>(declare, run),
            {"audit", "audit --device mybackend --html=audit.html", "audit --model ops.json --html=audit.html",
             "audit --import my_package --against torch-2.15.0", "audit -o audit.json",
             "audit --baseline audit.json --card card.html", "audit --saved audit.json --json"}};
  verb.renamed = {{"--save", "--out"}, {"--from", "--saved"}};
  verb.hint = "the device is an option, --device NAME; without it, the backend that is installed is audited";
  return verb;
}

}  // namespace openreg_gen
