#include "strategy/strategy.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

Spec parse_of_a_device(std::string text) {
  Diagnostics diagnostics;
  Spec spec = parse_spec_text("backend: {name: dev}\n" + std::move(text), "spec.yaml", diagnostics);
  EXPECT_TRUE(diagnostics.empty()) << (diagnostics.empty() ? "" : diagnostics.all()[0].message);
  return spec;
}

TEST(ParseTests, AreOnByDefault) {
  const Spec spec = parse_of_a_device("ops: {relu: native}\n");
  EXPECT_TRUE(*spec.ops.at(0).tests.run);
  EXPECT_FALSE(spec.ops[0].tests.rtol.given());
  EXPECT_EQ(*spec.tests.samples, 3);
}

TEST(ParseTests, ALoneBooleanTurnsThemOff) {
  EXPECT_FALSE(*parse_of_a_device("ops: {relu: {tests: false}}\n").ops.at(0).tests.run);
  EXPECT_TRUE(*parse_of_a_device("ops: {relu: {tests: true}}\n").ops.at(0).tests.run);
}

TEST(ParseTests, DtypesTolerancesAndSkips) {
  const Spec spec = parse_of_a_device(
      "ops:\n  relu:\n    tests:\n      dtypes: [float32, bool]\n      rtol: 1e-3\n      atol: 0\n      skip:\n"
      "      - {check: error_inputs, reason: others}\n      - {check: backward, dtype: bool, reason: none}\n");
  const OpTests& tests = spec.ops.at(0).tests;
  EXPECT_TRUE(*tests.run);
  ASSERT_EQ(tests.dtypes->size(), 2u);
  EXPECT_DOUBLE_EQ(*tests.rtol, 1e-3);
  EXPECT_DOUBLE_EQ(*tests.atol, 0);
  ASSERT_EQ(tests.skip.size(), 2u);
  EXPECT_EQ(*tests.skip[0].check, TestCheck::ErrorInputs);
  EXPECT_FALSE(tests.skip[0].dtype.given());
  EXPECT_EQ(*tests.skip[1].check, TestCheck::Backward);
  EXPECT_EQ(*tests.skip[1].dtype, "bool");
  EXPECT_EQ(*tests.skip[1].reason, "none");
}

TEST(ParseTests, OfAllOperators) {
  const Spec spec = parse_of_a_device(
      "tests:\n  samples: 7\n  tolerances:\n  - {dtype: float16, rtol: 0.5, atol: +1}\n"
      "  exclude:\n  - {test: TestA, reason: a}\n  - {test: TestA.test_b, reason: b}\n");
  EXPECT_EQ(*spec.tests.samples, 7);
  ASSERT_EQ(spec.tests.tolerances.size(), 1u);
  EXPECT_DOUBLE_EQ(*spec.tests.tolerances[0].atol, 1);
  ASSERT_EQ(spec.tests.exclude.size(), 2u);
  EXPECT_EQ(*spec.tests.exclude[1].test, "TestA.test_b");
}

}  // namespace
}  // namespace openreg_gen
