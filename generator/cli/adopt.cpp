#include "cli/adopt.h"

#include "audit/findings.h"
#include "base/text.h"
#include "catalog/stubs.h"
#include "cli/ops_view.h"
#include "cli/workbench.h"
#include "edit/style.h"
#include "spec/minimal_ops.h"
#include "strategy/fit.h"
#include "strategy/starter.h"

#include <stdlib.h>

#include <fstream>

namespace openreg_gen {
namespace {

using Json = nlohmann::ordered_json;

void write_json(const fs::path& path, const Json& json) {
  std::ofstream file(path);
  file << json.dump(1, ' ', false, Json::error_handler_t::replace);
  if (!file.flush())
    throw Failure(Exit::Environment, "E0506", "cannot write " + path.string(), "free some space, or set TMPDIR");
}

Json operator_facts(const Op& op) {
  Json json = op_details(op);
  json["minimal"] = is_minimal_op(op.name);
  json["decomposed_otherwise"] = is_decomposed_otherwise(op.name);
  if (const Strategy* choice = replaces_minimal(op)) json["replaces_minimal"] = choice->word;
  if (const Stub* stub = find_stub(op.name); stub != nullptr && !is_attention_choice(op.name)) {
    json["stub"] = stub->name;
    json["stub_params"] = stub_signature(stub->fn_type).params;
  }
  return json;
}

/// Why the spec can't have a custom operator of the old backend, by its name with namespace.
Json refused_schemas(const std::string& facts, const std::string& name) {
  Json out = Json::object();
  for (const auto& row : nlohmann::json::parse(facts).at("adopt").value("custom", nlohmann::json::array())) {
    const std::string schema = row.at("schema"), own = schema.substr(schema.find("::") + 2);
    Diagnostics found;
    parse_spec_text(fmt::format("backend: {{name: {}}}\ncustom_ops: [{{schema: {}}}]\n", name, in_quotes(own, '"')), {},
                    found);
    for (const Diagnostic& each : found.all())
      if (each.severity == Severity::Error) out[row.at("op").get<std::string>()] = each.message;
  }
  return out;
}

/// Why the spec can't have the name of the old device; empty if it can.
std::string refused_name(const std::string& device) {
  Diagnostics found;
  parse_spec_text("backend: {name: " + in_quotes(device, '"') + "}\n", {}, found);
  const Diagnostic* error = find_by(found.all(), Severity::Error, &Diagnostic::severity);
  return error == nullptr ? "" : error->message;
}

/// What the catalogue knows of the operators that the backend registers, and what the audit finds wrong with them.
Json catalogue_facts(const AuditDocument& document, const Catalog& catalog) {
  std::set<std::string> names;
  for (const RegisteredKernel& each : document.registrations)
    if (each.op.starts_with("aten::")) names.insert(each.op.substr(6));
  // Forms that a structured kernel serves are asked for by the name of that kernel.
  for (const std::string& name : std::vector(names.begin(), names.end()))
    if (const Op* op = catalog.find(name); op != nullptr && !op->structured_delegate.empty())
      names.insert(op->structured_delegate);
  Json operators = Json::object();
  for (const std::string& name : names)
    if (const Op* op = catalog.find(name)) operators[name] = operator_facts(*op);
  const AuditReport report = judge_audit(document, catalog, nullptr, nullptr);
  Json totals = Json::object();
  for (const Coverage each : kCoverages) totals[std::string(to_string(each))] = report.all.of(each);
  const auto finding = [](const AuditFinding& each) {
    return Json{{"kind", to_string(each.kind)},
                {"op", each.op},
                {"text", each.text},
                {"file", each.at.file},
                {"line", each.at.line}};
  };
  const auto rule = [](const AutocastRule& each) { return Json{{"op", each.op}, {"policy", each.policy}}; };
  return Json{{"torch", catalog.torch_version()},
              {"operators", operators},
              {"totals", totals},
              {"findings", json_list(report.findings, finding)},
              {"autocast", json_list(catalog.autocast, rule)}};
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "openreg-gen-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Failure(Exit::Environment, "E0506", "cannot create a temporary folder", "set TMPDIR to a writable folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

nlohmann::json Adoption::summary() const {
  nlohmann::json out = plan_;
  for (const char* text : {"report", "kernels", "files", "python", "port"}) out.erase(text);
  return out;
}

Exit Adoption::place(const fs::path& tree) const {
  return run_tool("adopt.place", {"--plan", (folder_->path() / "plan.json").string(), "--tree", tree.string()});
}

std::optional<Adoption> adopt(Invocation& call, const AdoptOptions& options, Exit& exit) {
  Adoption made;
  made.folder_ = std::make_shared<TemporaryFolder>();
  const fs::path& folder = made.folder_->path();
  const auto run = [&](const std::string& module, const std::vector<std::string>& words) {
    exit = run_tool(module, words);
    if (exit != Exit::Done && call.json)
      throw Failure(exit, "E0573", "'" + options.package + "' can't be adopted",
                    "Python's message is on standard error");
    return exit == Exit::Done;
  };
  std::error_code error;
  for (const std::string& each : options.sources)
    if (!fs::is_directory(each, error))
      throw Failure(Exit::BadInput, "E0573", "'" + each + "' is not a directory",
                    "name the folder that holds the C++ sources of '" + options.package + "'");
  fs::path facts = options.facts;
  if (facts.empty()) {
    facts = folder / "facts.json";
    std::vector<std::string> words = {options.package, "--json", facts.string()};
    if (!options.calls) words.push_back("--no-calls");
    if (!run("adopt.read", words)) return std::nullopt;
  }
  Diagnostics diagnostics;
  const std::string text = read_file(facts, "E0506", "name a file that `python -m openreg_gen.adopt.read` wrote");
  const auto document = parse_audit(text, facts.string(), diagnostics);
  diagnostics.finish(text);
  if (call.report(diagnostics) || !document) {
    exit = Exit::BadInput;
    return std::nullopt;
  }
  // Of the PyTorch that the old backend runs with, if it is here.
  std::optional<Catalog> own;
  if (!call.torch() && !document->torch_dir.empty() && fs::is_directory(document->torch_dir, error))
    own = load_catalog(find_torch(document->torch_dir));
  Json known = catalogue_facts(*document, own ? *own : call.catalog());
  known["refused"] = refused_schemas(text, options.name);
  known["refused_name"] = refused_name(document->device);
  write_json(folder / "operators.json", known);
  std::vector<std::string> words = {"--name",      options.name,
                                    "--facts",     facts.string(),
                                    "--operators", (folder / "operators.json").string(),
                                    "--json",      (folder / "plan.json").string()};
  for (const std::string& each : options.sources) words.insert(words.end(), {"--sources", each});
  if (!run("adopt.write", words)) return std::nullopt;
  made.plan_ = nlohmann::json::parse(read_file(folder / "plan.json", "E0506", "adopt.write has just written it"));
  return made;
}

}  // namespace openreg_gen
