#include "model/tests.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using nlohmann::json;

json printed(const Op& op, const OpSpec& written, const Catalog& catalog) {
  return Fields::json_of(tested_item(op, written, catalog));
}

Location somewhere() { return {"spec.yaml", 1, 1}; }

TEST(TestedItem, SaysLittleUnlessTheSpecSaysMore) {
  Op relu;
  relu.name = "relu";
  OpSpec written;
  written.strategy.value = "cpu_fallback";
  const json item = printed(relu, written, {});
  EXPECT_EQ(item["op"], "relu");
  EXPECT_EQ(item["strategy"], "cpu_fallback");
  EXPECT_EQ(item["tolerance"], "None");
}

TEST(TestedItem, NamesItsFormsAndThoseItServes) {
  Catalog catalog;
  Op out, functional;
  out.name = "abs.out";
  out.variants = {"abs"};
  functional.name = "abs";
  functional.variants = {"abs.out"};
  functional.has_default = true;
  catalog.ops = {functional, out};
  EXPECT_EQ(printed(out, {}, catalog)["serves"], json({"abs"}));
  EXPECT_EQ(printed(functional, {}, catalog)["serves"], json::array());
  EXPECT_EQ(printed(functional, {}, catalog)["forms"], json({"abs.out"}));
}

TEST(TestedItem, ItsOwnDtypesWinOverTheKernels) {
  Op relu;
  relu.name = "relu";
  OpSpec written;
  written.dtypes.value = {{"float32", somewhere()}, {"float64", somewhere()}};
  EXPECT_EQ(printed(relu, written, {})["dtypes"], json({"\"float32\"", "\"float64\""}));
  written.tests.dtypes = {{{"int8", somewhere()}}, somewhere()};
  const json item = printed(relu, written, {});
  EXPECT_EQ(item["dtypes"], json({"\"int8\""}));
}

TEST(TestedItem, TolerancesAndSkipsArePython) {
  Op relu;
  relu.name = "relu";
  OpSpec written;
  written.tests.rtol = {1e-5, somewhere()};
  written.tests.atol = {1, somewhere()};
  written.tests.skip = {{{TestCheck::ErrorInputs, somewhere()}, {}, {"it \"asks\"", somewhere()}},
                        {{TestCheck::Out, somewhere()}, {"bool", somewhere()}, {"no", somewhere()}}};
  const json item = printed(relu, written, {});
  EXPECT_EQ(item["tolerance"], "(1e-05, 1.0)");
  EXPECT_EQ(item["skips"][0], json({{"check", "error_inputs"}, {"dtype", "None"}, {"reason", "'it \"asks\"'"}}));
  EXPECT_EQ(item["skips"][1], json({{"check", "out"}, {"dtype", "\"bool\""}, {"reason", "\"no\""}}));
}

TEST(TestsModel, AnExcludedClassIsAStar) {
  Spec spec;
  spec.tests.exclude = {{{"TestA", somewhere()}, {"a", somewhere()}},
                        {{"TestB.test_c", somewhere()}, {"b", somewhere()}}};
  spec.tests.tolerances = {{{"float16", somewhere()}, {0.01, somewhere()}, {0, somewhere()}}};
  const json model = Fields::json_of(TestsContext(spec.tests));
  EXPECT_EQ(model["samples"], 3);
  EXPECT_EQ(model["excluded"][0], json({{"class", "TestA"}, {"test", "*"}, {"reason", "\"a\""}}));
  EXPECT_EQ(model["excluded"][1]["test"], "test_c");
  EXPECT_EQ(model["tolerances"][0], json({{"dtype", "float16"}, {"rtol", "0.01"}, {"atol", "0.0"}}));
}

}  // namespace
}  // namespace openreg_gen
