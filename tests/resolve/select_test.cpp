#include "resolve/select.h"

#include "catalog/catalog.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace openreg_gen {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

struct Expanded {
  Diagnostics diagnostics;
  ResolvedSpec resolved;

  Expanded(const std::string& ops, const std::filesystem::path& path)
      : resolved(resolve(parse_spec_text("backend: {name: dev}\nops:\n" + ops, path, diagnostics), installed(),
                         diagnostics)) {}

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& each : resolved.ops) result.push_back(each.op.name);
    return result;
  }
  const ResolvedOp& op(const std::string& name) const {
    for (const auto& each : resolved.ops) {
      if (each.op.name == name) return each;
    }
    throw std::runtime_error(name + " was not selected");
  }
  std::string why_left(const std::string& name) const {
    for (const auto& selection : resolved.selections) {
      for (const auto& [op, reason] : selection.left) {
        if (op == name) return reason;
      }
    }
    return "it was not left";
  }
};

Expanded expand(const std::string& ops, const std::filesystem::path& path = "spec.yaml") { return {ops, path}; }

std::vector<std::string> selected(const std::string& ops) {
  const auto result = expand(ops);
  EXPECT_TRUE(result.diagnostics.empty()) << result.diagnostics.all()[0].message;
  return result.names();
}

TEST(Select, ANameIsThatOperator) {
  EXPECT_THAT(selected("  - relu\n  - relu_\n  - add.Tensor\n"), ElementsAre("relu", "relu_", "add.Tensor"));
  EXPECT_TRUE(expand("  - relu\n").resolved.selections.empty());
}

TEST(Select, ABareNameIsWhatNeedsAKernel) {
  EXPECT_THAT(selected("  add: native\n"), ElementsAre("add.out"));
  EXPECT_THAT(selected("  maximum: structured\n"), ElementsAre("maximum.out"));
  EXPECT_THAT(selected("  hypot: {strategy: pointwise, expr: self + other}\n"), ElementsAre("hypot.out"));
}

TEST(Select, GlobsMatchBaseNamesOrNames) {
  EXPECT_THAT(selected("  - sub.*\n"), ElementsAre("sub.out"));
  EXPECT_THAT(selected("  - pow.*\n"), ElementsAre("pow.Scalar_out", "pow.Tensor_Scalar_out", "pow.Tensor_Tensor_out"));
  EXPECT_THAT(selected("  - hypo?\n"), ElementsAre("hypot.out"));
  EXPECT_THAT(selected("  - relu.*\n"), ElementsAre("relu"));
  EXPECT_THAT(selected("  - \"*_backward\"\n"), IsSupersetOf({"tanh_backward.grad_input", "embedding_dense_backward"}));
}

TEST(Select, SetsTakeTheFormThatServes) {
  const auto core = expand("  - \"@core\": native\n");
  EXPECT_THAT(core.names(), IsSupersetOf({"add.out", "mm.out", "relu", "embedding_dense_backward"}));
  EXPECT_THAT(core.names(), Not(Contains("add.Tensor")));
  EXPECT_EQ(core.op("add.out").selection(), "@core");
  EXPECT_EQ(core.op("add.out").entry.name.at.line, 3);
  EXPECT_THAT(core.why_left("view"), testing::HasSubstr("minimal set"));
  EXPECT_THAT(core.why_left("pow.Scalar"), testing::HasSubstr("not left"));  // pow.Scalar_out stands for it
  EXPECT_THAT(core.why_left("add.Scalar"), testing::HasSubstr("works without a kernel"));
  EXPECT_TRUE(std::ranges::is_sorted(core.names()));
  EXPECT_THAT(selected("  \"@pointwise\": structured\n"), IsSupersetOf({"add.out", "tanh_backward.grad_input"}));
  EXPECT_THAT(selected("  \"@amp\": native\n"), IsSupersetOf({"mm.out", "bmm.out"}));
  EXPECT_THAT(selected("  \"@tag:pointwise\": structured\n"),
              testing::ContainerEq(selected("  \"@pointwise\": structured\n")));
}

TEST(Select, TheMinimalSetIsThereAnyway) {
  const auto minimal = expand("  \"@minimal\": native\n");
  EXPECT_FALSE(minimal.diagnostics.has_errors());
  EXPECT_THAT(minimal.why_left("empty_strided"), testing::HasSubstr("minimal set"));
}

TEST(Select, AStrategyThatDoesNotFitLeaves) {
  const auto stubs = expand("  \"@pointwise\": stub\n");
  EXPECT_THAT(stubs.names(), IsSupersetOf({"abs.out", "div.out"}));
  EXPECT_THAT(stubs.why_left("relu"), testing::HasSubstr("DispatchStub"));
}

TEST(Select, TheMoreExactGoesFirst) {
  const auto result = expand(
      "  - add.out: native\n"
      "  - mul: structured\n"
      "  - \"@core\": native\n"
      "  - \"@pointwise\": structured\n");
  EXPECT_EQ(*result.op("add.out").entry.strategy, "native");
  EXPECT_EQ(result.op("add.out").selection(), "");
  EXPECT_EQ(result.op("mul.out").selection(), "mul");
  EXPECT_EQ(result.op("sub.out").selection(), "@pointwise");  // the later line
  EXPECT_EQ(result.op("mm.out").selection(), "@core");
  EXPECT_THAT(result.why_left("add.out"), testing::HasSubstr("line 3"));
  EXPECT_EQ(result.names().front(), "add.out");
  EXPECT_EQ(result.names()[1], "mul.out");
}

TEST(Select, MinusTakesOutWhereverItStands) {
  const auto result = expand("  - \"-mul\"\n  - \"@core\"\n  - \"-sub.Tensor\"\n  - mul.out\n  - \"-*_backward\"\n");
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_THAT(result.names(), Not(Contains("sub.out")));
  EXPECT_THAT(result.names(), Not(Contains("embedding_dense_backward")));
  EXPECT_EQ(result.op("mul.out").selection(), "");  // named, so the minus does not reach it
  EXPECT_THAT(result.why_left("sub.out"), testing::HasSubstr("'-sub.Tensor'"));
}

TEST(Select, MinusInAMapHasNoValue) {
  EXPECT_THAT(expand("  \"@core\": native\n  \"-sub.*\":\n").names(), Not(Contains("sub.out")));
}

TEST(Select, KeysHoldForEachOperator) {
  const auto result = expand("  \"*fft*\": {strategy: unsupported, reason: no FFT, tests: false}\n");
  EXPECT_THAT(result.names(), Contains("_fft_c2c"));
  EXPECT_EQ(*result.op("_fft_c2c").entry.reason, "no FFT");
  EXPECT_FALSE(*result.op("_fft_c2c").entry.tests.run);
}

TEST(Select, OverrideTakesCompositeOperators) {
  EXPECT_THAT(selected("  reshape*: {override: true}\n"), Contains("reshape"));
}

TEST(Select, ReleasesAreARange) {
  const auto result = expand(
      "  relu: {since: \"2.14\"}\n  relu_: {until: \"2.12\"}\n  abs.out: {since: \"2.13\", until: \"2.13\"}\n"
      "  \"sub.*\": {since: \"3.0\"}\n  no_such_op: {since: \"2.20\"}\n");
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_THAT(result.names(), ElementsAre("abs.out"));
  EXPECT_THAT(result.why_left("relu"), testing::AllOf(testing::HasSubstr("2.14"), testing::HasSubstr("2.13")));
  EXPECT_THAT(expand("  - relu: {since: \"2.14\"}\n  - relu*: {tests: false}\n").op("relu").selection(), "relu*");
  const auto both = expand("  - relu: {strategy: cpu_fallback, since: \"2.14\"}\n  - relu: {until: \"2.13\"}\n");
  EXPECT_THAT(both.names(), ElementsAre("relu"));
  EXPECT_EQ(*both.op("relu").entry.strategy, "native");
}

TEST(Select, AModelsListBesideTheSpec) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "select_test";
  std::filesystem::create_directories(folder / "lists");
  std::ofstream(folder / "lists/model.txt") << "add.Tensor\naten::mm\nreshape\nno_such_op\nviewy thing\n";
  const auto wrong = expand("  - \"@model:lists/model.txt\"\n", folder / "spec.yaml");
  ASSERT_EQ(wrong.diagnostics.all().size(), 2u);
  EXPECT_EQ(wrong.diagnostics.all()[0].code, "E0150");
  EXPECT_EQ(wrong.diagnostics.all()[0].at.file, (folder / "lists/model.txt").string());
  EXPECT_EQ(wrong.diagnostics.all()[1].code, "E0244");

  std::ofstream(folder / "lists/model.txt") << "add.Tensor\naten::mm\nreshape\nno_such_op\n";
  const auto result = expand("  - \"@model:lists/model.txt\"\n", folder / "spec.yaml");
  EXPECT_THAT(result.names(), ElementsAre("add.out", "mm.out"));
  EXPECT_FALSE(result.diagnostics.has_errors());
  ASSERT_EQ(result.diagnostics.all().size(), 1u);
  EXPECT_EQ(result.diagnostics.all()[0].code, "E0245");
  ASSERT_EQ(result.resolved.lists.size(), 1u);
  EXPECT_EQ(result.resolved.lists[0].path, "lists/model.txt");
}

}  // namespace
}  // namespace openreg_gen
