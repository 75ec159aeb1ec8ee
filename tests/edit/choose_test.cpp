#include "edit/choose.h"

#include "diag/render.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using ::testing::HasSubstr;

ResolvedSpec spec(const std::string& ops = "") {
  Diagnostics diagnostics;
  Spec parsed = parse_spec_text("backend: {name: my}\n" + ops, "my.yaml", diagnostics);
  ResolvedSpec resolved = resolve(std::move(parsed), catalog(), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << render_text(diagnostics, false);
  return resolved;
}

/// "op=strategy", or the first error: "E0201: its hint".
std::string chosen(const std::string& name, const OpRequest& request = {}, const std::string& ops = "") {
  Diagnostics diagnostics;
  const auto one = choose_op(name, request, spec(ops), diagnostics);
  if (!one) return diagnostics.all().at(0).code + ": " + diagnostics.all()[0].hint;
  EXPECT_FALSE(one->why.empty());
  return one->entry.name + "=" + one->entry.strategy + (one->entry.more.empty() ? "" : "," + one->entry.more[0].first);
}

TEST(Choose, TheBestThatFits) {
  EXPECT_EQ(chosen("abs.out"), "abs.out=in_tree");
  EXPECT_EQ(chosen("addmm.out"), "addmm.out=matmul");
  EXPECT_EQ(chosen("topk.values"), "topk.values=structured");
  EXPECT_EQ(chosen("nonzero"), "nonzero=native");
  EXPECT_EQ(chosen("aten::nonzero"), "nonzero=native");
  EXPECT_EQ(chosen("eye"), "eye=native");
}

TEST(Choose, TheFormThatServesTheOthers) {
  EXPECT_EQ(chosen("maximum"), "maximum.out=in_tree");
  EXPECT_EQ(chosen("topk"), "topk.values=structured");
  EXPECT_EQ(chosen("add_.Tensor"), catalog().find("add_.Tensor")->structured_delegate + "=structured");
  EXPECT_EQ(chosen("maximum", {.strategy = "native", .expr = {}, .reason = {}}), "maximum=native");
  EXPECT_TRUE(chosen("maximum", {}, "ops: {maximum.out: structured}").starts_with("E0551"));
}

TEST(Choose, WhatTheCommandLineSays) {
  EXPECT_EQ(chosen("atan2.out", {.strategy = {}, .expr = "self", .reason = {}}), "atan2.out=pointwise,expr");
  EXPECT_EQ(chosen("poisson", {.strategy = "unsupported", .expr = {}, .reason = "no"}), "poisson=unsupported,reason");
  EXPECT_EQ(chosen("matmul", {.strategy = {}, .expr = {}, .reason = {}, .override_composite = true}),
            "matmul=native,override");
  EXPECT_EQ(chosen("nonzero", {.strategy = {}, .expr = {}, .reason = {}, .override_composite = true}),
            "nonzero=native");
}

TEST(Choose, WhatIsRefused) {
  EXPECT_THAT(chosen("abs.ouu"), ::testing::AllOf(::testing::StartsWith("E0202: "), HasSubstr("'abs.out'")));
  EXPECT_THAT(chosen("maximun"), ::testing::AllOf(::testing::StartsWith("E0201: "), HasSubstr("'maximum'")));
  EXPECT_THAT(chosen("matmul"), ::testing::StartsWith("E0203: "));
  EXPECT_THAT(chosen("view"), ::testing::StartsWith("E0209: "));
  EXPECT_THAT(chosen("relu", {}, "ops: {relu: native}"), ::testing::StartsWith("E0551"));
}

TEST(Choose, WhatASelectionBringsMayHaveAnEntryOfItsOwn) {
  const std::string ops = "ops: {'nonzero*': native}";
  EXPECT_THAT(chosen("nonzero", {}, ops), ::testing::AllOf(::testing::StartsWith("E0551: "), HasSubstr("--strategy")));
  EXPECT_EQ(chosen("nonzero", {.strategy = "cpu_fallback", .expr = {}, .reason = {}}, ops), "nonzero=cpu_fallback");
}

std::string custom(const std::string& schema, const std::string& ops = "") {
  Diagnostics diagnostics;
  const auto one = choose_custom_op(schema, spec(ops).spec, diagnostics);
  return one ? *one : diagnostics.all().at(0).code;
}

TEST(Choose, CustomOperators) {
  EXPECT_EQ(custom("f(Tensor x) -> Tensor"), "f(Tensor x) -> Tensor");
  EXPECT_EQ(custom("my::f(Tensor x) -> Tensor"), "f(Tensor x) -> Tensor");
  EXPECT_EQ(custom("other::f(Tensor x) -> Tensor"), "E0552");
  EXPECT_EQ(custom("f(Tenso x) -> Tensor"), "E0162");
  EXPECT_EQ(custom("f(Tensor x)"), "E0160");
  EXPECT_EQ(custom("f(Tensor x) -> Tensor", "custom_ops: ['f(Tensor y) -> Tensor']"), "E0551");
  EXPECT_EQ(custom("f.a(Tensor x) -> Tensor", "custom_ops: ['f(Tensor y) -> Tensor']"), "f.a(Tensor x) -> Tensor");
}

FromFile from(const std::string& text, std::size_t top = 100) {
  Diagnostics diagnostics;
  const auto file = parse_ops_file(text, "ops.json", diagnostics);
  EXPECT_TRUE(file.has_value());
  return choose_from(*file, {}, top, spec("ops: {relu: native}"), diagnostics);
}

std::string names(const FromFile& found) {
  std::string out;
  for (const Choice& one : found.chosen) out += one.entry.name + " ";
  return out;
}

TEST(Choose, OfARecordedModelWhatCostsMost) {
  const std::string text = R"({"format": "openreg-gen ops", "version": 1, "torch": "2.13.0", "ops": [
    {"op": "abs.out", "calls": 5, "fallback": 5, "bytes": 10, "seconds": 0.1},
    {"op": "add.Tensor", "calls": 9, "fallback": 0, "bytes": 0, "seconds": 0},
    {"op": "matmul", "calls": 9, "fallback": 9, "bytes": 9, "seconds": 9},
    {"op": "maximum", "calls": 5, "fallback": 5, "bytes": 10, "seconds": 0.5},
    {"op": "maximum.out", "calls": 5, "fallback": 5, "bytes": 10, "seconds": 0.4},
    {"op": "nonzero", "calls": 5, "fallback": 5, "bytes": 11, "seconds": 0.1},
    {"op": "relu", "calls": 5, "fallback": 5, "bytes": 10, "seconds": 0.1},
    {"op": "view", "calls": 5, "fallback": 5, "bytes": 10, "seconds": 0.1}]})";
  EXPECT_EQ(names(from(text)), "maximum.out nonzero abs.out ");
  EXPECT_EQ(from(text).left_out, "1 composite, 1 did not fall back, 1 in the spec already, 1 of the minimal set");
  EXPECT_EQ(names(from(text, 1)), "maximum.out ");
  EXPECT_THAT(from(text, 1).left_out, HasSubstr("2 beyond --limit"));
  EXPECT_EQ(names(from("# mine\nnonzero\nabs.out\n")), "abs.out nonzero ");
}

TEST(Choose, OfARecordedModelWithoutCostsWhatIsCalledMost) {
  const std::string text = R"({"format": "openreg-gen ops", "version": 1, "torch": "2.13.0", "ops": [
    {"op": "abs.out", "calls": 5}, {"op": "maximum.out", "calls": 9}]})";
  EXPECT_EQ(names(from(text)), "maximum.out abs.out ");
  EXPECT_EQ(from(text).left_out, "");
  EXPECT_THAT(from(text).chosen.at(0).why, HasSubstr("(9 calls)"));
}

std::string removal(const std::string& name, const std::string& ops) {
  Diagnostics diagnostics;
  const auto one = choose_removal(name, spec(ops), diagnostics);
  if (!one) return diagnostics.all().at(0).code + ": " + diagnostics.all()[0].hint;
  return one->name + (one->custom ? "#" + std::to_string(*one->custom) : "");
}

TEST(Choose, Removals) {
  const std::string ops =
      "ops: {maximum.out: structured, relu: native}\ncustom_ops: ['a(Tensor x) -> Tensor', 'f(Tensor x) -> Tensor']";
  EXPECT_EQ(removal("relu", ops), "relu");
  EXPECT_EQ(removal("maximum", ops), "maximum.out");
  EXPECT_EQ(removal("my::f", ops), "f#1");
  EXPECT_THAT(removal("rela", ops), ::testing::AllOf(::testing::StartsWith("E0553: "), HasSubstr("'relu'")));
  EXPECT_THAT(removal("nonzero", "ops: {'nonzero*': native}"), HasSubstr("\"-nonzero\""));
  EXPECT_THAT(removal("view", ops), ::testing::StartsWith("E0553: "));
}

}  // namespace
}  // namespace openreg_gen
