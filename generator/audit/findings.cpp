#include "audit/findings.h"

#include "audit/need.h"
#include "base/text.h"
#include "spec/minimal_ops.h"
#include "strategy/fit.h"

#include <fmt/ranges.h>

#include <set>

namespace openreg_gen {
namespace {

/// "aten::add.out" -> "add.out"; nothing for other namespaces.
std::string_view aten_name(BorrowedText op) { return op.starts_with("aten::") ? op.substr(6) : std::string_view(); }

class Judge {
 public:
  Judge(const AuditDocument& document, const Catalog& catalog) : document_(document), catalog_(catalog) {
    for (const RegisteredKernel& each : document.registrations) {
      if (!each.active || each.kind == "fallthrough" || aten_name(each.op).empty()) continue;
      if (each.key.starts_with("Autograd"))
        with_gradient_.insert(aten_name(each.op));
      else if (!each.key.starts_with("Autocast") && (each.key == document.key || each.kind == "typed"))
        registered_.emplace(aten_name(each.op), &each);
    }
    for (const Wait& each : document.waits) waits_.emplace(each.op, each.needs);
  }

  AuditRow row(const Op& op) const {
    AuditRow row;
    row.coverage = {&op, Coverage::Missing, family_of(op, catalog_), {}};
    const auto served = document_.ops.find(op.name);
    if (served == document_.ops.end()) {
      row.coverage.how = "the audited PyTorch does not have it";
    } else {
      row.at = served->second.at;
      serve(op, served->second, row);
    }
    const Coverage then = row.coverage.coverage;
    const bool made = then == Coverage::Composite && op.has_tag("generated");
    if ((then == Coverage::Missing || then == Coverage::Fallback || made) && is_foreign(op, catalog_)) {
      row.coverage.how = foreign_reason(op, catalog_);
      row.coverage.coverage = Coverage::NotForYou;
    }
    if (row.coverage.coverage == Coverage::Composite) {
      for (const std::string_view name : {std::string_view(op.name), std::string_view(op.base)})
        if (const auto found = waits_.find(name); found != waits_.end() && !has_kernel(found->second)) {
          row.waits_for = found->second;
          row.coverage.how += fmt::format("; waits for '{}'", found->second);
          break;
        }
    }
    if (row.coverage.coverage == Coverage::Missing || row.coverage.coverage == Coverage::Fallback)
      row.add = op.structured_delegate.empty() ? op.name : op.structured_delegate;
    return row;
  }

  /// Whether the device has a kernel for an operator, in any of its forms. What only throws is none.
  bool has_kernel(std::string_view op) const {
    const Op* found = catalog_.find(op);
    if (found == nullptr) return false;
    const std::string& kernel = found->structured_delegate.empty() ? found->name : found->structured_delegate;
    return registered_.contains(kernel) || registered_.contains(op);
  }

  const std::map<std::string_view, const RegisteredKernel*>& registered() const { return registered_; }
  bool has_gradient(const Op& op) const { return with_gradient_.contains(op.name); }

 private:
  void serve(const Op& op, const ServedOp& served, AuditRow& row) const {
    CoverageRow& out = row.coverage;
    const auto is = [&](Coverage coverage, std::string how) {
      out.coverage = coverage;
      out.how = std::move(how);
    };
    if (served.how == "kernel") return is(Coverage::Native, "a kernel of the backend");
    if (served.how == "boxed") return is(Coverage::Fallback, "registered as a fallback");
    if (document_.on_device.contains(op.name))
      return is(Coverage::Fallback, "by the backend's fallback, which made its result on the device");
    if (served.how == "fallback") {
      if (op.base == "set_") return is(Coverage::Missing, "falls back, but the CPU can't share the device's memory");
      if (op.is_view)
        return is(Coverage::Missing,
                  "a view falls back: the result is a copy, and writes to it don't reach the original");
      const std::string no = draws_from_generator_alone(op) ? "" : unfit(*find_strategy("cpu_fallback"), op);
      return no.empty() ? is(Coverage::Fallback, "by the backend's fallback")
                        : is(Coverage::Missing, "falls back, but " + no);
    }
    if (const auto other = registered_.find(op.name); other != registered_.end() && other->second->key != document_.key)
      return row.at = other->second->at, is(Coverage::Native, "a kernel at " + other->second->key);
    if (served.how == "none" || served.how == "fallthrough") return is(Coverage::Missing, "no kernel, and no fallback");
    if (!op.structured_delegate.empty()) return delegate(op, row);
    if (op.default_throws()) return is(Coverage::Missing, "PyTorch's default only throws");
    is(Coverage::Composite,
       op.composite_implicit ? "calls other operators, gradients included" : "calls other operators");
  }

  static bool draws_from_generator_alone(const Op& op) {
    return op.op_class == OpClass::Random && op.kernels.contains("CPU");
  }

  /// PyTorch's default for this form calls the out form's kernel.
  void delegate(const Op& op, AuditRow& row) const {
    const Op* out = catalog_.find(op.structured_delegate);
    const AuditRow served = out == nullptr ? AuditRow{} : this->row(*out);
    const Coverage coverage = served.coverage.coverage;
    row.at = served.at;
    row.coverage.coverage = coverage == Coverage::Native ? Coverage::Delegate : coverage;
    row.coverage.how = fmt::format("through '{}'", op.structured_delegate) +
                       (coverage == Coverage::Native ? "" : ": " + served.coverage.how);
  }

  const AuditDocument& document_;
  const Catalog& catalog_;
  std::map<std::string_view, const RegisteredKernel*> registered_;  // by operator: the last one at a backend's key
  std::set<std::string_view> with_gradient_;
  std::map<std::string_view, std::string_view> waits_;
};

// The findings, each of an operator.

bool returns_tensors(const Op& op) {
  return std::ranges::any_of(op.schema_returns, [](const std::string& type) { return type.starts_with("Tensor"); });
}

void of_registration(const AuditRow& row, const ServedOp& served, const Judge& judge, std::vector<AuditFinding>& out) {
  const Op& op = *row.coverage.op;
  const bool hides = served.how == "boxed" && op.has_default && !op.default_throws() &&
                     op.structured_delegate.empty() && op.op_class != OpClass::Random &&
                     !is_decomposed_otherwise(op.name);
  if (hides)
    out.push_back({AuditFindingKind::HidesComposite, op.name,
                   op.composite_implicit ? "PyTorch would compose it from other operators, gradients included"
                                         : "PyTorch would compose it from other operators",
                   served.at});
  if (served.how == "kernel" && op.composite_implicit && returns_tensors(op) && !judge.has_gradient(op))
    out.push_back({AuditFindingKind::NoGradient, op.name,
                   "the kernel replaces a composite with gradients, and nothing is registered at AutogradPrivateUse1",
                   served.at});
  if (row.coverage.coverage == Coverage::Missing && op.is_view && op.base != "set_")
    out.push_back({AuditFindingKind::MissingView, op.name, row.coverage.how, row.at});
}

void of_dtypes(const AuditRow& row, const OpDtypes& dtypes, std::vector<AuditFinding>& out) {
  const Coverage coverage = row.coverage.coverage;
  if (dtypes.refuses.empty() || (coverage != Coverage::Native && coverage != Coverage::Delegate)) return;
  const auto refused = mapped(dtypes.refuses, [](const auto& each) { return each.first; });
  const Op& op = *row.coverage.op;
  const std::string& kernel = coverage == Coverage::Delegate ? op.structured_delegate : op.name;
  const auto same = [&](const AuditFinding& each) {
    return each.op == kernel &&
           (each.kind == AuditFindingKind::SomeDtypes || each.kind == AuditFindingKind::SampleFails);
  };
  if (std::ranges::any_of(out, same)) return;  // by another of its forms
  if (dtypes.takes.empty()) {
    out.push_back({AuditFindingKind::SampleFails, kernel,
                   fmt::format("each sample that was tried, of shapes {}: {}", fmt::join(dtypes.shapes, ", "),
                               dtypes.refuses.front().second),
                   row.at});
    return;
  }
  out.push_back({AuditFindingKind::SomeDtypes, kernel,
                 fmt::format("takes {}, refuses {}: {}", fmt::join(dtypes.takes, ", "), fmt::join(refused, ", "),
                             dtypes.refuses.front().second),
                 row.at});
}

void find_holes(const AuditDocument& document, const Judge& judge, AuditReport& report) {
  for (const AuditRow& row : report.rows) {
    const std::string& name = row.coverage.op->name;
    if (const auto served = document.ops.find(name); served != document.ops.end())
      of_registration(row, served->second, judge, report.findings);
    if (const auto dtypes = document.dtypes.find(name); dtypes != document.dtypes.end())
      of_dtypes(row, dtypes->second, report.findings);
  }
  for (const RegisteredKernel& each : document.registrations)
    if (!each.active)
      report.findings.push_back(
          {AuditFindingKind::RegisteredTwice, each.op, "replaced by a later registration at " + each.key, each.at});
  for (const DeadSample& each : document.deaths)
    report.findings.push_back(
        {each.verdict == "hangs" ? AuditFindingKind::NoEnd : AuditFindingKind::Dies, each.sample, each.message, {}});
  std::ranges::stable_sort(report.findings, {},
                           [](const AuditFinding& finding) { return std::pair(finding.kind, finding.op); });
}

void add_model(const OpsFile& model, const Catalog& catalog, AuditReport& report) {
  std::map<std::string_view, const RecordedOp*> recorded;
  for (const RecordedOp& op : model.ops) {
    if (catalog.find(*op.name) == nullptr) report.unknown.push_back(*op.name);
    recorded.emplace(*op.name, &op);
  }
  for (AuditRow& row : report.rows) {
    const auto found = recorded.find(row.coverage.op->name);
    if (found == recorded.end()) continue;
    row.recorded = true;
    row.calls = found->second->calls;
  }
}

/// Operators that the device lacks, by how many composites and entries of PyTorch's samples did not run for want of
/// them.
void add_unlocks(const AuditDocument& document, const Judge& judge, AuditReport& report) {
  std::map<std::string, std::set<std::string>> waiting;
  for (const Wait& each : document.waits)
    if (!judge.has_kernel(each.needs)) waiting[each.needs].insert(each.op);
  for (auto& [op, names] : waiting) report.unlocks.push_back({op, {names.begin(), names.end()}});
  std::ranges::stable_sort(report.unlocks, std::ranges::greater(),
                           [](const Unlock& each) { return each.waiting.size(); });
}

void count(AuditReport& report) {
  for (const AuditRow& row : report.rows) {
    const Coverage coverage = row.coverage.coverage;
    report.all.add(coverage);
    if (row.coverage.op->has_tag("core")) report.core.add(coverage);
    if (is_minimal_op(row.coverage.op->name)) report.minimal.add(coverage);
    if (row.recorded) report.recorded.add(coverage);
  }
}

}  // namespace

std::string_view to_string(AuditFindingKind kind) {
  constexpr std::array<std::string_view, 8> names = {
      "fallback hides a composite", "missing view", "some dtypes only", "no gradient", "registered twice",
      "its samples fail",           "dies",         "no end in time"};
  return names[static_cast<std::size_t>(kind)];
}

AuditReport judge_audit(const AuditDocument& document, const Catalog& catalog, const OpsFile* model,
                        const Catalog* next) {
  const Judge judge(document, catalog);
  AuditReport report;
  for (const Op& op : catalog.all()) report.rows.push_back(judge.row(op));
  if (model != nullptr) add_model(*model, catalog, report);
  std::ranges::stable_sort(report.rows, {}, [](const AuditRow& row) {
    return order_of(row.coverage, need_of(*row.coverage.op, row.recorded), row.calls);
  });
  count(report);
  find_holes(document, judge, report);
  add_unlocks(document, judge, report);
  report.registered = judge.registered().size();
  for (const AuditRow& row : report.rows)
    if (judge.registered().contains(row.coverage.op->name)) ++report.registered_as[row.coverage.coverage];
  if (next != nullptr) {
    for (const auto& [op, kernel] : judge.registered()) {
      if (catalog.find(op) == nullptr) continue;
      OpDrift drift = compare_op(op, catalog, *next);
      if (!drift.changes.empty()) report.drift.push_back({std::string(op), std::move(drift)});
    }
  }
  return report;
}

}  // namespace openreg_gen
