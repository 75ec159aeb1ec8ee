#include "model/ops.h"

#include "strategy/strategy.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using nlohmann::json;

Spec custom_spec(const std::string& schema, const std::string& expr, CustomAutograd autograd,
                 const std::string& backward) {
  std::string text = "backend: {name: mydevice}\ncustom_ops:\n  - schema: \"" + schema + "\"\n";
  if (!expr.empty()) text += "    expr: \"" + expr + "\"\n";
  if (autograd != CustomAutograd::None)
    text += autograd == CustomAutograd::Formula ? "    autograd: formula\n" : "    autograd: function\n";
  if (!backward.empty()) text += "    backward: \"" + backward + "\"\n";
  Diagnostics diagnostics;
  Spec spec = parse_spec_text(text, "mydevice.yaml", diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.all()[0].message << "\n" << text;
  return spec;
}

json model_of(const Spec& spec) {
  Subjects ignored;
  return custom_operators_model(spec, ignored);
}

TEST(CustomOperators, EachGradientIsAnOperatorOfItsOwn) {
  const json ops = model_of(custom_spec("axpy(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                                        "self * alpha + other", CustomAutograd::Formula, "grad * alpha; grad"));
  ASSERT_EQ(ops["pointwise"].size(), 3U);
  EXPECT_EQ(ops["pointwise"][1]["name"], "axpy_backward_self");
  EXPECT_EQ(ops["pointwise"][2]["expr"], "grad");
  EXPECT_EQ(ops["formulas"].at(0)["gradients"].at(1)["arg_index"], 1);
  EXPECT_EQ(ops["formulas"].at(0)["gradients"].at(0)["call_args"],
            "grads[0], saved[0], saved[1], ctx->saved_data[\"alpha\"].toScalar()");
  EXPECT_EQ(ops["python"].at(0)["py_call"], "self, other, alpha=alpha");
  EXPECT_EQ(ops["python"].at(0)["py_differentiable"], "True");
}

TEST(CustomOperators, AMissingFormulaIsNamed) {
  const json ops = model_of(
      custom_spec("add2(Tensor self, Tensor other) -> Tensor", "self + other", CustomAutograd::Formula, "grad"));
  EXPECT_EQ(ops["formulas"].at(0)["missing"].at(0)["name"], "other");
  EXPECT_EQ(ops["python"].at(0)["py_differentiable"], "False");
}

TEST(CustomOperators, WithoutAnExpressionTheKernelIsTheOwners) {
  const json ops =
      model_of(custom_spec("mine(Tensor self, Tensor? w, int[] n) -> (Tensor, Tensor)", "", CustomAutograd::None, ""));
  EXPECT_TRUE(ops["pointwise"].empty());
  EXPECT_EQ(ops["declared"].at(0)["returns"], "std::tuple<at::Tensor, at::Tensor>");
  EXPECT_EQ(ops["declared"].at(0)["params"],
            "const at::Tensor& self, const std::optional<at::Tensor>& w, at::IntArrayRef n");
  EXPECT_EQ(ops["not_differentiable"], json({"mine"}));
}

TEST(CustomOperators, OverloadsHaveNamesOfTheirOwn) {
  const json ops = model_of(custom_spec("pool.list(Tensor[] xs, int[2] size=[1,1], float? eps=None) -> Tensor[]", "",
                                        CustomAutograd::None, ""));
  EXPECT_EQ(ops["declared"].at(0)["name"], "pool.list");
  EXPECT_EQ(ops["declared"].at(0)["custom_id"], "pool_list");
  EXPECT_EQ(ops["python"].at(0)["py_op"], "pool.list");
  EXPECT_EQ(ops["python"].at(0)["py_typed_args"],
            "xs: Sequence[torch.Tensor], size: Sequence[int] = (1, 1), eps: float | None = None");
  EXPECT_EQ(ops["sequences"], true);
}

TEST(CustomOperators, AWrittenBackwardGetsAllArguments) {
  const json ops =
      model_of(custom_spec("mix(Tensor x, Tensor? w, int[] n) -> (Tensor, Tensor)", "", CustomAutograd::Formula, ""));
  EXPECT_EQ(ops["declared"].at(0)["backward_params"],
            "at::TensorList grads, const at::Tensor& x, const std::optional<at::Tensor>& w, at::IntArrayRef n");
  EXPECT_EQ(ops["formulas"].at(0)["backward_args"],
            json({"grads", "saved[0]", "saved[1].defined() ? std::optional(saved[1]) : std::nullopt",
                  "ctx->saved_data[\"n\"].toIntVector()"}));
  EXPECT_EQ(ops["formulas"].at(0)["list_items"], "list[0], list[1]");
}

TEST(CustomOperators, WhatIsWrittenIsToldToAutograd) {
  const json ops = model_of(custom_spec("bump(Tensor(a!) x) -> ()", "", CustomAutograd::None, ""));
  EXPECT_EQ(ops["mutating"], json({"bump"}));
  EXPECT_TRUE(ops["not_differentiable"].empty());  // what is registered for the others does not see it
}

TEST(CustomOperators, SymbolsReachWhatComputesNoData) {
  const json ops =
      model_of(custom_spec("grow(Tensor x, SymInt n, SymInt[]? k=None) -> Tensor", "", CustomAutograd::Formula, ""));
  EXPECT_EQ(ops["declared"].at(0)["params"], "const at::Tensor& x, int64_t n, at::OptionalIntArrayRef k");
  EXPECT_EQ(ops["declared"].at(0)["meta_params"], "const at::Tensor& x, c10::SymInt n, at::OptionalSymIntArrayRef k");
  EXPECT_EQ(ops["formulas"].at(0)["signature"], "const at::Tensor&, c10::SymInt, at::OptionalSymIntArrayRef");
  EXPECT_EQ(ops["formulas"].at(0)["backward_args"],
            json({"grads", "saved[0]", "ctx->saved_data[\"n\"].toSymInt()",
                  "ctx->saved_data[\"k\"].to<at::OptionalArray<c10::SymInt>>()"}));
}

TEST(CustomOperators, AViewHasOneKernelForAllDevices) {
  const json ops = model_of(custom_spec("part(Tensor(a) x, SymInt n) -> Tensor(a)", "", CustomAutograd::None, ""));
  EXPECT_TRUE(ops["kernels"].empty());
  EXPECT_TRUE(ops["not_differentiable"].empty());  // its gradient is that of the views it is composed of
  EXPECT_EQ(ops["views"].at(0)["custom_id"], "part");
  EXPECT_EQ(ops["declared"].at(0)["params"], "const at::Tensor& x, c10::SymInt n");
  EXPECT_EQ(ops["declared"].at(0)["start_params"], "const at::Tensor& x, c10::SymInt");
}

TEST(CustomOperators, AnInPlaceOperatorIsTaggedAsSuch) {
  const json ops = model_of(custom_spec("bump_(Tensor(a!) x) -> Tensor(a!)", "", CustomAutograd::None, ""));
  EXPECT_EQ(ops["schemas"].at(0)["tags"], "at::Tag::pt2_compliant_tag, at::Tag::inplace");
  EXPECT_EQ(ops["declared"].at(0)["returns"], "at::Tensor&");
  EXPECT_EQ(ops["mutating"], json({"bump_"}));
}

}  // namespace
}  // namespace openreg_gen
