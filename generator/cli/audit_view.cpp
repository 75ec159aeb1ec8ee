#include "cli/audit_view.h"

#include "base/text.h"
#include "catalog/schema_diff.h"
#include "cli/answer.h"
#include "cli/coverage_view.h"
#include "cli/terminal_text.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kAnswers = "answers", kInapplicable = "does not apply";
constexpr std::array<std::string_view, 4> kHoles = {"crashes", "hangs", "wrong", "not implemented"};

/// Shows only the last part of a backend's own paths: those of build machines are useless on a terminal.
std::string short_place(const KernelPlace& at) {
  return KernelPlace{at.file.substr(at.file.rfind('/') + 1), at.line}.text();
}

/// Without the folders that PyTorch was built or a backend is installed in, and relative to the current one if inside.
std::string page_place(const KernelPlace& at) {
  std::string file = at.file;
  for (const std::string_view mark : {"/pytorch/pytorch/", "/site-packages/"})
    if (const auto found = file.rfind(mark); found != std::string::npos) file.erase(0, found + mark.size());
  if (fs::path(file).is_absolute()) {
    std::error_code error;
    const auto inside = fs::proximate(file, error);
    if (!error && *inside.begin() != "..") file = inside.string();
  }
  return KernelPlace{file, at.line}.text();
}

/// "a, b and 3 more" within `width`.
std::string some_of(const std::vector<std::string>& names, std::size_t width) {
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (all.size() <= width) return all;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    const std::string more = fmt::format(" and {} more", names.size() - shown - 1);
    const std::string next = text + (text.empty() ? "" : ", ") + name;
    if (next.size() + more.size() > width && shown > 0) break;
    text = next;
    ++shown;
  }
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

class Lines {
 public:
  explicit Lines(std::size_t width) : width_(width) {}
  void add(const std::string& line) { text_ += line + "\n"; }
  /// "  NAME   a, b and 3 more"; nothing for an empty list.
  void list(std::string_view name, const std::vector<std::string>& items) {
    constexpr std::size_t kName = 26;  // "fallback hides a composite"
    if (items.empty()) return;
    add(fmt::format("  {:<{}}  {}", name, kName, some_of(items, width_ - kName - 4)));
  }
  std::string take() { return std::move(text_); }

 private:
  std::size_t width_;
  std::string text_;
};

std::string totals_table(const AuditReport& report, const AuditSubject& subject, std::size_t width) {
  std::vector<std::vector<std::string>> rows = {{"OPERATORS", " ALL"}};
  for (const auto coverage : kCoverages) rows[0].push_back(std::string(to_string(coverage)));
  const auto add = [&](const std::string& name, const CoverageTotals& totals) {
    std::vector<std::string> row = {name, fmt::format("{:>4}", totals.all())};
    for (const auto coverage : kCoverages)
      row.push_back(fmt::format("{:>{}}", totals.of(coverage), to_string(coverage).size()));
    rows.push_back(std::move(row));
  };
  add("all", report.all);
  add("@core", report.core);
  add("minimal set", report.minimal);
  if (!subject.model.empty()) add(subject.model.size() > 16 ? "the model" : subject.model, report.recorded);
  return layout_table(rows, width);
}

/// What a maintainer writes first.
void unlocks_text(const AuditReport& report, Lines& out) {
  if (report.unlocks.empty()) return;
  out.list("kernels that unlock most", mapped(report.unlocks, [](const Unlock& each) {
             return fmt::format("{} ({})", each.op, each.waiting.size());
           }));
}

std::string about(const AuditDocument& document) {
  std::string text = document.device + (document.package.empty() ? "" : " (" + document.package + ")");
  return text + ", PyTorch " + document.torch + (document.date.empty() ? "" : ", " + document.date);
}

void baseline_text(const AuditSubject& subject, Lines& out) {
  if (subject.baseline == nullptr) return;
  const AuditComparison& found = subject.baseline->comparison;
  out.add("Since " + about(subject.baseline->document));
  const auto operators = [&](bool better) {
    std::vector<std::string> names;
    for (const ClassChange& each : found.operators)
      if (each.better() == better)
        names.push_back(fmt::format("{} ({}, was {})", each.op, to_string(each.now), to_string(each.was)));
    return names;
  };
  const auto interfaces = [&](bool better) {
    std::vector<std::string> names;
    for (const VerdictChange& each : found.interfaces)
      if (each.better() == better) names.push_back(fmt::format("{} ({}, was {})", each.interface, each.now, each.was));
    return names;
  };
  const auto faults = [](const std::vector<AuditFinding>& list) {
    return mapped(list,
                  [](const AuditFinding& each) { return each.op + " (" + std::string(to_string(each.kind)) + ")"; });
  };
  const auto add = [&](std::string_view what, const std::vector<std::string>& names) {
    out.list(fmt::format("{} ({})", what, names.size()), names);
  };
  add("operators, worse", operators(false));
  add("operators, better", operators(true));
  add("interfaces, worse", interfaces(false));
  add("interfaces, better", interfaces(true));
  add("new faults", faults(found.appeared));
  add("faults that are gone", faults(found.gone));
  if (found.operators.empty() && found.interfaces.empty() && found.appeared.empty() && found.gone.empty())
    out.add("  nothing changed");
}

Json baseline_json(const AuditBaseline& baseline) {
  const auto faults = [](const std::vector<AuditFinding>& list) {
    return json_list(list, [](const AuditFinding& each) -> Json {
      return {{"kind", to_string(each.kind)}, {"op", each.op}, {"text", each.text}};
    });
  };
  const AuditDocument& document = baseline.document;
  return {{"device", document.device},
          {"package", document.package},
          {"torch", document.torch},
          {"date", document.date},
          {"operators", json_list(baseline.comparison.operators,
                                  [](const ClassChange& each) -> Json {
                                    return {
                                        {"op", each.op}, {"was", to_string(each.was)}, {"now", to_string(each.now)}};
                                  })},
          {"interfaces", json_list(baseline.comparison.interfaces,
                                   [](const VerdictChange& each) -> Json {
                                     return {{"name", each.interface}, {"was", each.was}, {"now", each.now}};
                                   })},
          {"new", faults(baseline.comparison.appeared)},
          {"gone", faults(baseline.comparison.gone)}};
}

std::size_t count_of_verdict(const AuditDocument& document, std::string_view verdict) {
  return static_cast<std::size_t>(std::ranges::count(document.interfaces, verdict, &ProbedInterface::verdict));
}

void interfaces_text(const AuditDocument& document, Lines& out) {
  const std::size_t asked = document.interfaces.size() - count_of_verdict(document, kInapplicable);
  out.add(fmt::format("Interfaces: {} of {} answer", count_of_verdict(document, kAnswers), asked));
  for (const auto verdict : kHoles) {
    const bool by_group = verdict == kHoles.back();  // which are most of them where there is little
    std::vector<std::string> names;
    std::vector<std::pair<std::string, std::size_t>> groups;
    for (const ProbedInterface& each : document.interfaces) {
      if (each.verdict != verdict) continue;
      names.push_back(each.name);
      if (groups.empty() || groups.back().first != each.group) groups.emplace_back(each.group, 0);
      ++groups.back().second;
    }
    if (by_group)
      names = mapped(groups, [](const auto& group) { return fmt::format("{} ({})", group.first, group.second); });
    out.list(fmt::format("{} ({})", verdict, count_of_verdict(document, verdict)), names);
  }
}

void findings_text(const AuditReport& report, Lines& out) {
  std::map<AuditFindingKind, std::vector<std::string>> by_kind;
  for (const AuditFinding& each : report.findings) {
    const std::string place = short_place(each.at);
    const bool own = each.kind != AuditFindingKind::MissingView && !place.empty();
    by_kind[each.kind].push_back(each.op + (own ? " (" + place + ")" : ""));
  }
  out.add(by_kind.empty() ? "Kernels: no faults found" : "Kernels");
  for (const auto& [kind, names] : by_kind) out.list(to_string(kind), names);
}

/// Operators of the recorded model, or else of @core and the minimal set, that have no kernel.
std::vector<std::string> most_needed(const AuditReport& report, const AuditSubject& subject) {
  std::vector<std::string> names;
  for (const AuditRow& row : report.rows) {
    const bool asked = !subject.model.empty() ? row.recorded : need_of(*row.coverage.op, false) != Need::Others;
    if (asked && row.coverage.coverage == Coverage::Missing && !contains(names, row.add)) names.push_back(row.add);
  }
  return names;
}

void model_text(const AuditReport& report, const AuditSubject& subject, Lines& out) {
  if (subject.model.empty()) return;
  std::vector<std::string> lacking = report.unknown;
  for (const AuditRow& row : report.rows) {
    const Coverage coverage = row.coverage.coverage;
    if (row.recorded && (coverage == Coverage::Missing || coverage == Coverage::NotForYou))
      lacking.push_back(row.coverage.op->name);
  }
  if (lacking.empty())
    out.add(fmt::format("The model: all of its {} are served", count_of(report.recorded.all(), "operator")));
  else
    out.list(fmt::format("the model lacks ({})", lacking.size()), lacking);
}

std::string changes_text(const OpDrift& drift) {
  const auto words = mapped(drift.changes, [](OpChange change) { return std::string(to_string(change)); });
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string title(const AuditSubject& subject) {
  const AuditDocument& document = subject.document;
  return fmt::format("{}{}, PyTorch {}", document.device, document.package.empty() ? "" : " (" + document.package + ")",
                     document.torch);
}

/// "kernels registered for 92 operators: 53 native, 39 fallback": the table below counts some of them elsewhere.
std::string registered_text(const AuditReport& report) {
  std::vector<std::string> parts;
  std::size_t others = report.registered;
  for (const auto& [coverage, number] : report.registered_as) {
    parts.push_back(fmt::format("{} {}", number, to_string(coverage)));
    others -= number;
  }
  if (others > 0) parts.push_back(fmt::format("{} unknown to this PyTorch", others));
  return fmt::format("kernels registered for {}: {}", count_of(report.registered, "operator"), fmt::join(parts, ", "));
}

Json place_json(const KernelPlace& at) { return at.file.empty() ? Json() : Json{{"file", at.file}, {"line", at.line}}; }

std::string schema_of(const Op* op) { return op == nullptr ? "" : std::string(without_namespace(op->schema)); }

Json row_json(const AuditRow& row) {
  const Op& op = *row.coverage.op;
  Json json = {{"op", op.name},
               {"coverage", to_string(row.coverage.coverage)},
               {"need", to_string(need_of(op, row.recorded))},
               {"family", row.coverage.family},
               {"how", row.coverage.how},
               {"at", place_json(row.at)}};
  if (!row.waits_for.empty()) json["waits_for"] = row.waits_for;
  if (!row.add.empty()) json["add"] = row.add;
  if (row.recorded) json["calls"] = row.calls;
  return json;
}

}  // namespace

std::string audit_text(const AuditReport& report, const AuditSubject& subject, std::size_t width) {
  Lines out(width);
  out.add(title(subject));
  out.add(registered_text(report));
  std::string text = out.take() + totals_table(report, subject, width) + "\n";
  unlocks_text(report, out);
  findings_text(report, out);
  interfaces_text(subject.document, out);
  model_text(report, subject, out);
  if (!subject.next.empty()) {
    const auto names = mapped(report.drift, &RegisteredDrift::op);
    if (names.empty())
      out.add(fmt::format("PyTorch {} changes none of the operators with kernels", subject.next));
    else
      out.list(fmt::format("changes in {} ({})", subject.next, names.size()), names);
  }
  baseline_text(subject, out);
  const auto needed = most_needed(report, subject);
  out.list(fmt::format("missing, most needed ({})", needed.size()), needed);
  return text + out.take();
}

Json audit_json(const AuditReport& report, const AuditSubject& subject) {
  const AuditDocument& document = subject.document;
  Json totals = {
      {"all", totals_json(report.all)}, {"core", totals_json(report.core)}, {"minimal", totals_json(report.minimal)}};
  if (!subject.model.empty()) totals["model"] = totals_json(report.recorded);
  Json json = {{"device", document.device},       {"package", document.package},        {"torch", document.torch},
               {"date", document.date},           {"openreg_gen", OPENREG_GEN_VERSION}, {"seconds", document.seconds},
               {"registered", report.registered}, {"totals", std::move(totals)}};
  json["unlocks"] = json_list(report.unlocks,
                              [](const Unlock& each) -> Json { return {{"op", each.op}, {"waiting", each.waiting}}; });
  json["interfaces"] = json_list(document.interfaces, [](const ProbedInterface& each) -> Json {
    return {{"group", each.group},     {"name", each.name},   {"verdict", each.verdict},
            {"message", each.message}, {"needs", each.needs}, {"provide", each.provide}};
  });
  json["findings"] = json_list(report.findings, [](const AuditFinding& each) -> Json {
    return {{"kind", to_string(each.kind)}, {"op", each.op}, {"text", each.text}, {"at", place_json(each.at)}};
  });
  if (!subject.model.empty()) json["model"] = {{"file", subject.model}, {"unknown", report.unknown}};
  if (!subject.next.empty())
    json["against"] = {
        {"torch", subject.next},
        {"changed", json_list(report.drift, [](const RegisteredDrift& each) -> Json {
           return {{"op", each.op},
                   {"changes", mapped(each.drift.changes, [](OpChange change) { return to_string(change); })},
                   {"old", schema_of(each.drift.before)},
                   {"new", schema_of(each.drift.after)},
                   {"same_signature", each.drift.same_signature}};
         })}};
  if (subject.baseline != nullptr) json["baseline"] = baseline_json(*subject.baseline);
  json["ops"] = json_list(report.rows, row_json);
  return json;
}

std::string audit_html(const AuditReport& report, const AuditSubject& subject) {
  const AuditDocument& document = subject.document;
  OperatorsPage page{.title = "Audit of " + document.device,
                     .about = title(subject) + ": " + registered_text(report),
                     .command = "openreg-gen audit --device " + document.device,
                     .rows = {}};
  for (const AuditRow& row : report.rows)
    page.rows.push_back(
        {&row.coverage, need_of(*row.coverage.op, row.recorded), page_place(row.at), row.add, row.calls});
  for (const ProbedInterface& each : document.interfaces)
    page.interfaces.push_back({each.group, each.name, each.verdict, each.message, each.needs, each.provide});
  for (const AuditFinding& each : report.findings)
    page.findings.push_back({to_string(each.kind), each.op, each.text, page_place(each.at)});
  for (const Unlock& each : report.unlocks)
    page.unlocks.push_back({each.op, each.waiting.size(), some_of(each.waiting, 160)});
  for (const RegisteredDrift& each : report.drift)
    page.changes.push_back(
        {each.op, changes_text(each.drift), schema_of(each.drift.before), schema_of(each.drift.after)});
  return operators_html(page);
}

Json audit_card_json(const AuditReport& report, const AuditSubject& subject) {
  const auto figures = [](const AuditReport& of, const AuditDocument& document) -> Json {
    Json interfaces = {{"answers", count_of_verdict(document, kAnswers)}};
    for (const auto verdict : kHoles) interfaces[verdict] = count_of_verdict(document, verdict);
    Json faults = Json::object();
    for (const AuditFinding& each : of.findings) {
      Json& number = faults[std::string(to_string(each.kind))];
      number = number.is_null() ? 1 : number.get<int>() + 1;
    }
    Json totals = {{"all", totals_json(of.all)}, {"core", totals_json(of.core)}, {"minimal", totals_json(of.minimal)}};
    return {{"device", document.device},  {"package", document.package},
            {"torch", document.torch},    {"date", document.date},
            {"totals", totals},           {"interfaces", interfaces},
            {"faults", std::move(faults)}};
  };
  Json json = {{"format", "openreg-gen audit card"}, {"schema", 1}, {"openreg_gen", OPENREG_GEN_VERSION}};
  json.update(figures(report, subject.document));
  json["unlocks"] = json_list(
      report.unlocks, [](const Unlock& each) -> Json { return {{"op", each.op}, {"waiting", each.waiting.size()}}; });
  if (subject.baseline == nullptr) return json;
  json["baseline"] = figures(subject.baseline->report, subject.baseline->document);
  json["changes"] = baseline_json(*subject.baseline);
  return json;
}

std::string audit_card_html(const AuditReport& report, const AuditSubject& subject) {
  return page_of("card.html", audit_card_json(report, subject));
}

}  // namespace openreg_gen
