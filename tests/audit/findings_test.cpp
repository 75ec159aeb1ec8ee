#include "audit/compare.h"
#include "audit/findings.h"

#include "base/text.h"

#include "audit/small.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

const AuditDocument& document() {
  static const AuditDocument read = [] {
    Diagnostics diagnostics;
    return parse_audit(small_audit(), "a.json", diagnostics).value();
  }();
  return read;
}

AuditReport judged(const OpsFile* model = nullptr, const Catalog* next = nullptr) {
  return judge_audit(document(), catalog(), model, next);
}

const AuditRow& row_of(const AuditReport& report, std::string_view op) {
  const auto found =
      std::ranges::find_if(report.rows, [&](const AuditRow& row) { return row.coverage.op->name == op; });
  if (found == report.rows.end()) throw std::runtime_error("no row of " + std::string(op));
  return *found;
}

std::string of(const AuditReport& report, std::string_view op) {
  const AuditRow& row = row_of(report, op);
  return std::string(to_string(row.coverage.coverage)) + ": " + row.coverage.how;
}

TEST(Audit, EachOperatorHasOneClass) {
  const AuditReport report = judged();
  EXPECT_EQ(report.rows.size(), catalog().all().size());
  EXPECT_EQ(report.all.all(), catalog().all().size());
  EXPECT_EQ(of(report, "add.out"), "native: a kernel of the backend");
  EXPECT_EQ(of(report, "add.Tensor"), "delegate: through 'add.out'");
  EXPECT_EQ(row_of(report, "add.Tensor").at.text(), "/src/Kernels.cpp:10");
  EXPECT_EQ(of(report, "relu.out"), "composite: calls other operators");
  EXPECT_EQ(of(report, "sub.out"), "fallback: by the backend's fallback");
  EXPECT_EQ(of(report, "sub.Tensor"), "fallback: through 'sub.out': by the backend's fallback");
  EXPECT_EQ(row_of(report, "sub.Tensor").add, "sub.out");
  EXPECT_EQ(of(report, "reshape"), "fallback: registered as a fallback");
  EXPECT_EQ(of(report, "convolution_overrideable"), "missing: PyTorch's default only throws");
  EXPECT_EQ(of(report, "batch_norm_stats"), "missing: no kernel, and no fallback");
  EXPECT_THAT(of(report, "empty_strided"), testing::StartsWith("missing: falls back, but "));
  EXPECT_EQ(of(report, "mm.out"), "missing: the audited PyTorch does not have it");
}

TEST(Audit, WhatIsNotForABackend) {
  const AuditReport report = judged();
  EXPECT_EQ(of(report, "_cudnn_rnn"), "not-for-you: for another vendor's library");
  EXPECT_EQ(row_of(report, "_cudnn_rnn").add, "");
  EXPECT_EQ(of(report, "_nnz"), "native: a kernel at SparsePrivateUse1");
}

TEST(Audit, FaultsAreNamedWithTheirPlace) {
  std::vector<std::string> found;
  for (const AuditFinding& each : judged().findings)
    found.push_back(std::string(to_string(each.kind)) + " " + each.op + " " + each.at.text());
  EXPECT_THAT(found, testing::ElementsAre("fallback hides a composite reshape /src/Kernels.cpp:10",
                                          "missing view unfold /src/Kernels.cpp:40",
                                          "some dtypes only add.out /src/Kernels.cpp:10",
                                          "registered twice aten::relu /src/Kernels.cpp:3", "dies linalg.svd "));
}

TEST(Audit, CompositesSayForWhatTheyWait) {
  AuditDocument waiting = document();
  waiting.waits = {{"relu.out", "mm.out"}, {"relu.out", "add.out"}, {"trace", "mm.out"}};
  const AuditReport report = judge_audit(waiting, catalog(), nullptr, nullptr);
  EXPECT_EQ(of(report, "relu.out"), "composite: calls other operators; waits for 'mm.out'");
  EXPECT_EQ(row_of(report, "relu.out").waits_for, "mm.out");
  ASSERT_EQ(report.unlocks.size(), 1U) << "add.out has a kernel";
  EXPECT_EQ(report.unlocks[0].op, "mm.out");
  EXPECT_THAT(report.unlocks[0].waiting, testing::ElementsAre("relu.out", "trace"));
}

TEST(Audit, AFactoryThatFallsBackIsJudgedByItsResult) {
  AuditDocument called = document();
  called.on_device = {"empty_strided"};
  EXPECT_EQ(of(judge_audit(called, catalog(), nullptr, nullptr), "empty_strided"),
            "fallback: by the backend's fallback, which made its result on the device");
}

TEST(Audit, WhatNoDtypeTakesIsNotAboutDtypes) {
  AuditDocument failing = document();
  failing.dtypes = {{"add.Tensor", {{}, {"()", "(2, 3)"}, {{"float32", "no"}, {"int64", "no"}}}}};
  failing.deaths = {{"igamma", "hangs", "float16: no end within 180 s"}};
  const AuditReport report = judge_audit(failing, catalog(), nullptr, nullptr);
  const auto text_of = [&](AuditFindingKind kind) {
    const auto found = std::ranges::find(report.findings, kind, &AuditFinding::kind);
    return found == report.findings.end() ? "none" : found->op + ": " + found->text;
  };
  EXPECT_EQ(text_of(AuditFindingKind::SomeDtypes), "none");
  EXPECT_EQ(text_of(AuditFindingKind::SampleFails), "add.out: each sample that was tried, of shapes (), (2, 3): no");
  EXPECT_EQ(text_of(AuditFindingKind::Dies), "none");
  EXPECT_EQ(text_of(AuditFindingKind::NoEnd), "igamma: float16: no end within 180 s");
}

TEST(Audit, TwoAuditsAreCompared) {
  AuditDocument next = document();
  next.device = "yours";
  next.ops["sub.out"] = {"kernel", {}};
  next.ops["add.out"] = {"fallback", {}};
  next.interfaces[0].verdict = "crashes";
  std::erase_if(next.registrations, [](const RegisteredKernel& each) { return each.op == "aten::add.out"; });
  next.deaths.clear();
  const AuditReport then = judged(), now = judge_audit(next, catalog(), nullptr, nullptr);
  const AuditComparison found = compare_audits(now, next, then, document());
  const auto change_of = [&](std::string_view op) {
    const auto each = std::ranges::find(found.operators, op, &ClassChange::op);
    return each == found.operators.end() ? "none" : each->better() ? "better" : "worse";
  };
  EXPECT_STREQ(change_of("sub.out"), "better");
  EXPECT_STREQ(change_of("add.out"), "worse");
  EXPECT_STREQ(change_of("reshape"), "none");
  ASSERT_EQ(found.interfaces.size(), 1U);
  EXPECT_FALSE(found.interfaces[0].better());
  EXPECT_THAT(mapped(found.gone, &AuditFinding::op), testing::Contains("linalg.svd"));
  EXPECT_TRUE(compare_audits(then, document(), then, document()).operators.empty());
}

TEST(Audit, TheMostNeededIsFirst) {
  OpsFile model;
  model.ops.push_back({{"relu", {}}, 3});
  model.ops.push_back({{"sub.out", {}}, 9});
  model.ops.push_back({{"no_such", {}}, 1});
  const AuditReport report = judged(&model);
  EXPECT_EQ(report.rows[0].coverage.op->name, "sub.out");
  EXPECT_EQ(report.rows[1].coverage.op->name, "relu");
  EXPECT_EQ(report.recorded.all(), 2U);
  EXPECT_EQ(report.recorded.of(Coverage::Fallback), 1U);
  EXPECT_THAT(report.unknown, testing::ElementsAre("no_such"));
}

TEST(Audit, WhatAnotherReleaseChanges) {
  Catalog next = catalog();
  std::erase_if(next.ops, [](const Op& op) { return op.name == "relu"; });
  const AuditReport report = judged(nullptr, &next);
  ASSERT_EQ(report.drift.size(), 1U);
  EXPECT_EQ(report.drift[0].op, "relu");
  EXPECT_THAT(report.drift[0].drift.changes, testing::ElementsAre(OpChange::Removed));
}

}  // namespace
}  // namespace openreg_gen
