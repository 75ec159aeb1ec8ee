#include "audit/compare.h"

#include <algorithm>

namespace openreg_gen {
namespace {

/// Better verdicts first; what does not apply is none.
int rank_of(std::string_view verdict) {
  constexpr std::array<std::string_view, 5> kRanks = {"answers", "not implemented", "wrong", "hangs", "crashes"};
  return static_cast<int>(std::ranges::find(kRanks, verdict) - kRanks.begin());
}

std::vector<AuditFinding> without(const std::vector<AuditFinding>& all, const std::vector<AuditFinding>& others) {
  std::vector<AuditFinding> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](const AuditFinding& each) {
    return std::ranges::none_of(
        others, [&](const AuditFinding& other) { return other.kind == each.kind && other.op == each.op; });
  });
  return out;
}

}  // namespace

bool VerdictChange::better() const { return rank_of(now) < rank_of(was); }

AuditComparison compare_audits(const AuditReport& now, const AuditDocument& now_document, const AuditReport& then,
                               const AuditDocument& then_document) {
  AuditComparison out;
  std::map<std::string_view, Coverage> before;
  for (const AuditRow& row : then.rows) before.emplace(row.coverage.op->name, row.coverage.coverage);
  for (const AuditRow& row : now.rows) {
    const auto found = before.find(row.coverage.op->name);
    if (found == before.end() || found->second == row.coverage.coverage) continue;
    if (found->second == Coverage::NotForYou || row.coverage.coverage == Coverage::NotForYou) continue;
    out.operators.push_back({row.coverage.op->name, found->second, row.coverage.coverage});
  }
  // "mine" in the names of one backend's interfaces is "yours" in the other's.
  const auto neutral = [](std::string name, const std::string& device) {
    for (std::size_t at = 0; (at = name.find(device, at)) != std::string::npos; at += 4)
      name.replace(at, device.size(), "NAME");
    return name;
  };
  std::map<std::string, std::string_view> verdicts;
  for (const ProbedInterface& each : then_document.interfaces)
    verdicts.emplace(neutral(each.name, then_document.device), each.verdict);
  for (const ProbedInterface& each : now_document.interfaces) {
    const auto found = verdicts.find(neutral(each.name, now_document.device));
    if (found == verdicts.end() || found->second == each.verdict) continue;
    if (found->second == "does not apply" || each.verdict == "does not apply") continue;
    out.interfaces.push_back({each.name, std::string(found->second), each.verdict});
  }
  out.appeared = without(now.findings, then.findings);
  out.gone = without(then.findings, now.findings);
  return out;
}

}  // namespace openreg_gen
