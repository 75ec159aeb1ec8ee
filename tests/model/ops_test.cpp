#include "model/ops.h"

#include "strategy/starter.h"
#include "texts/ops_texts.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using nlohmann::json;

Argument argument(std::string type, std::string name, std::string schema_type = "Tensor", bool out = false) {
  Argument a;
  a.type = std::move(type);
  a.name = std::move(name);
  a.schema_type = std::move(schema_type);
  a.is_out = out;
  return a;
}

/// A catalogue of a few operators, as the installed PyTorch has them.
Catalog small_catalog() {
  Catalog catalog;
  Op hypot;
  hypot.name = "hypot.out";
  hypot.base = "hypot";
  hypot.overload = "out";
  hypot.schema = "aten::hypot.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
  hypot.returns = "at::Tensor &";
  hypot.structured = true;
  hypot.structured_inherits = "TensorIteratorBase";
  hypot.meta_struct = "at::meta::structured_hypot";
  hypot.device_check = false;
  hypot.arguments = {argument("const at::Tensor &", "self"), argument("const at::Tensor &", "other"),
                     argument("at::Tensor &", "out", "Tensor(a!)", true)};
  Op topk;
  topk.name = "topk.values";
  topk.base = "topk";
  topk.overload = "values";
  topk.schema =
      "aten::topk.values(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor(a!) values, "
      "Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
  topk.returns = "::std::tuple<at::Tensor &,at::Tensor &>";
  topk.structured = true;
  topk.meta_struct = "at::meta::structured_topk";
  topk.arguments = {argument("const at::Tensor &", "self"), argument("c10::SymInt", "k", "SymInt"),
                    argument("int64_t", "dim", "int"), argument("at::Tensor &", "values", "Tensor(a!)", true),
                    argument("at::Tensor &", "indices", "Tensor(b!)", true)};
  Op zero;
  zero.name = zero.base = "zero_";
  zero.schema = "aten::zero_(Tensor(a!) self) -> Tensor(a!)";
  zero.returns = "at::Tensor &";
  zero.arguments = {argument("at::Tensor &", "self", "Tensor(a!)")};
  Op uniform;
  uniform.name = uniform.base = "uniform_";
  uniform.schema =
      "aten::uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)";
  uniform.returns = "at::Tensor &";
  uniform.kernels = {{"CPU", "uniform_"}};
  uniform.arguments = {argument("at::Tensor &", "self", "Tensor(a!)"), argument("double", "from", "float"),
                       argument("double", "to", "float"),
                       argument("::std::optional<at::Generator>", "generator", "Generator?")};
  catalog.ops = {hypot, topk, uniform, zero};
  return catalog;
}

Spec spec_with(const std::string& op, const char* strategy) {
  Spec spec;
  OpSpec entry;
  entry.name.value = op;
  entry.strategy.value = strategy;
  spec.ops.push_back(entry);
  return spec;
}

/// globals["ops"]. The spec doesn't have to fit the small catalogue.
json operators(const Spec& spec, const Catalog& catalog) {
  Diagnostics ignored;
  Subjects subjects;
  return operators_model(expand_ops(spec, catalog, ignored), {}, subjects);
}

TEST(Texts, TypesAreInTheEmittedStyleAndWithoutSymInt) {
  EXPECT_EQ(cpp_type("const at::Tensor &"), "const at::Tensor&");
  EXPECT_EQ(cpp_type("const ::std::optional<at::Tensor> &"), "const std::optional<at::Tensor>&");
  EXPECT_EQ(cpp_type("::std::tuple<at::Tensor,at::Tensor>"), "std::tuple<at::Tensor, at::Tensor>");
  EXPECT_EQ(cpp_type("c10::SymIntArrayRef"), "at::IntArrayRef");
  EXPECT_EQ(cpp_return("::std::tuple<at::Tensor,c10::SymInt>"), "std::tuple<at::Tensor, c10::SymInt>");
  EXPECT_EQ(cpp_type("at::OptionalSymIntArrayRef"), "at::OptionalIntArrayRef");
  EXPECT_EQ(cpp_type("::std::optional<c10::SymInt>"), "std::optional<int64_t>");
}

TEST(Texts, GuardLooksAtTensorsListsAndDevices) {
  EXPECT_EQ(device_guard({{"at::TensorList", "list"}, {"int64_t", "n"}, {"const at::Tensor&", "self"}}),
            "const OperandsGuard guard(list, self);");
  EXPECT_EQ(device_guard({{"std::optional<at::Device>", "device"}}), "const OperandsGuard guard(device);");
  EXPECT_EQ(device_guard({{"int64_t", "n"}}), "");
}

TEST(Texts, PointwiseExpressionsSeeTensorsAsElementsAndNumbersByValue) {
  const Pointwise texts = pointwise_texts(
      {{"const at::Tensor&", "self"}, {"const at::Scalar&", "alpha"}, {"int64_t", "n"}, {"at::Tensor&", "out", true}});
  EXPECT_EQ(texts.inputs, "self");
  EXPECT_EQ(texts.lambda_params, "[[maybe_unused]] compute_t<scalar_t> self");
  EXPECT_EQ(texts.captures, "alpha = alpha.to<compute_t<scalar_t>>(), n");
}

TEST(Texts, IntegersArePromotedOnlyIfAllDtypesAreFloating) {
  EXPECT_TRUE(only_floating({"float32", "bfloat16", "complex64"}));
  EXPECT_FALSE(only_floating({"float32", "int64"}));
  EXPECT_FALSE(only_floating({}));
  EXPECT_EQ(dispatch_types({"float32", "int64"}), "at::kFloat, at::kLong");
}

TEST(Operators, StructuredCallsMetaThenImplOnTheOutputs) {
  const json ops = operators(spec_with("topk.values", "structured"), small_catalog());
  const json& op = ops["structured"].at(0);
  EXPECT_EQ(op["id"], "topk_values");
  EXPECT_EQ(op["meta_header"], "ATen/ops/topk_meta.h");
  EXPECT_EQ(op["params"], "const at::Tensor& self, int64_t k, int64_t dim, at::Tensor& values, at::Tensor& indices");
  EXPECT_EQ(op["meta_args"], "self, k, dim");
  EXPECT_EQ(op["impl_params"],
            "const at::Tensor& self, int64_t k, int64_t dim, const at::Tensor& values, const at::Tensor& indices");
  EXPECT_EQ(op["return_value"], "{values, indices}");
  EXPECT_EQ(op["check_tensors"], json({"self"}));
}

/// small_catalog() with the functional and in-place forms of hypot.
Catalog catalog_with_forms() {
  Catalog catalog = small_catalog();
  Op functional = catalog.ops.front();
  functional.name = functional.base = "hypot";
  functional.overload = "";
  functional.structured = false;
  functional.structured_delegate = "hypot.out";
  Op in_place = functional;
  in_place.name = in_place.base = "hypot_";
  in_place.kind = SchemaKind::Inplace;
  catalog.ops.front().variants = {"hypot", "hypot_"};
  catalog.ops.insert(catalog.ops.begin(), {functional});
  catalog.ops.insert(catalog.ops.begin() + 2, {in_place});
  return catalog;
}

TEST(Operators, StructuredServesItsOtherFormsWithoutTheOutputs) {
  const json op = operators(spec_with("hypot.out", "structured"), catalog_with_forms())["structured"][0];
  EXPECT_EQ(op["run_params"], "const at::Tensor& self, const at::Tensor& other");
  EXPECT_EQ(op["run_args"], "self, other");
  EXPECT_EQ(op["functional_forms"], json::parse(R"([{"op": "hypot", "struct": "at::_ops::hypot"}])"));
  EXPECT_EQ(op["in_place_forms"], json::parse(R"([{"op": "hypot_", "struct": "at::_ops::hypot_"}])"));
}

TEST(Operators, AFormThatTheSpecNamesIsNotRegisteredTwice) {
  Spec spec = spec_with("hypot.out", "structured");
  spec.ops.push_back(spec_with("hypot", "cpu_fallback").ops[0]);
  const json op = operators(spec, catalog_with_forms())["structured"][0];
  EXPECT_TRUE(op["functional_forms"].empty());
  EXPECT_EQ(op["in_place_forms"].size(), 1U);
}

TEST(Operators, WhatNotEachReleaseHasIsGuarded) {
  Spec spec = spec_with("hypot.out", "cpu_fallback");
  spec.backend.name.value = "mine";
  spec.torch.min.value = "2.13";
  spec.torch.max.value = "2.15";
  spec.ops[0].until.value = "2.13";
  spec.ops.push_back(spec_with("topk.values", "structured").ops[0]);
  spec.ops.back().since.value = "2.12";  // before the spec's range begins: no guard
  Catalog catalog = small_catalog();
  Op polar = catalog.ops.back();
  polar.name = polar.base = "linalg_polar";  // which PyTorch has since 2.14
  polar.schema = "aten::linalg_polar(Tensor A) -> (Tensor U, Tensor H)";
  polar.returns = "::std::tuple<at::Tensor,at::Tensor>";
  polar.arguments = {argument("const at::Tensor &", "A")};
  catalog.ops.insert(catalog.ops.begin() + 1, polar);
  spec.ops.push_back(spec_with("linalg_polar", "unsupported").ops[0]);
  spec.ops.back().until.value = "2.14";
  const json ops = operators(spec, catalog);
  EXPECT_EQ(ops["cpu_fallback"][0]["when"], "MINE_TORCH_RELEASE <= 213");
  EXPECT_EQ(ops["unsupported"][0]["when"], "MINE_TORCH_RELEASE >= 214 && MINE_TORCH_RELEASE <= 214");
  EXPECT_EQ(ops["unsupported"][0]["releases"], "((2, 14), (2, 14))");
  EXPECT_EQ(ops["structured"][0]["when"], "");
  EXPECT_TRUE(ops["limited"]);
  // Of a header, too, it matters what PyTorch has, not what the spec wants.
  EXPECT_EQ(ops["fallbacks"]["headers"], json({"ATen/ops/hypot_ops.h", "ATen/ops/uniform_ops.h"}));
  EXPECT_EQ(ops["fallbacks"]["guarded_headers"], json({"ATen/ops/linalg_polar_ops.h"}));
  EXPECT_TRUE(ops["fallbacks"]["limited"]);
}

TEST(Operators, KernelsRegisterThemselvesAndOneFileTheRest) {
  Spec spec = spec_with("hypot.out", "structured");
  spec.ops.push_back(spec_with("uniform_", "native").ops[0]);
  const json kernels = operators(spec, small_catalog());
  EXPECT_EQ(kernels["kernels"], json({"hypot.out", "uniform_"}));
  spec.ops[0] = spec_with("hypot.out", "cpu_fallback").ops[0];
  const json ops = operators(spec, small_catalog());
  EXPECT_EQ(ops["kernels"], json({"uniform_"}));
  EXPECT_TRUE(ops["falls_back"]);
  EXPECT_EQ(ops["fallbacks"]["headers"], json({"ATen/ops/hypot_ops.h"}));
}

TEST(Operators, PointwiseOfAStructuredOperatorKeepsItsOwnIterator) {
  Spec spec = spec_with("hypot.out", "pointwise");
  spec.ops[0].expr.value = parse_expr("self + other");
  spec.ops[0].dtypes.value.push_back({"float32", {}});
  const json op = operators(spec, small_catalog())["pointwise"].at(0);
  EXPECT_EQ(op["kernel_params"], "at::TensorIteratorBase& iter, const OperandOrder& order");
  EXPECT_EQ(op["kernel_args"], "*this, order");
  EXPECT_FALSE(op["boolean"]);
  EXPECT_EQ(op["dispatch"], "at::kFloat");
  EXPECT_EQ(op["expr"], "self + other");
  EXPECT_TRUE(op["check_tensors"].empty());
}

TEST(Operators, PointwiseOfAnOperatorWithoutMetaIsAComparisonIfItsResultIsBoolean) {
  Catalog catalog = small_catalog();
  Op& op = catalog.ops.front();
  op.structured = false;
  Spec spec = spec_with("hypot.out", "pointwise");
  EXPECT_FALSE(operators(spec, catalog)["pointwise"].at(0)["boolean"]);
  op.base = "logical_xor";
  const json item = operators(spec, catalog)["pointwise"].at(0);
  EXPECT_TRUE(item["boolean"]);
  EXPECT_EQ(item["kernel_args"], "iter");
  EXPECT_TRUE(boolean_result("logical_not_"));
  EXPECT_FALSE(boolean_result("nan_to_num"));
}

TEST(Operators, TheSpecReplacesTheMinimalKernelAndTheRandomDetour) {
  const json plain = operators(Spec{}, small_catalog());
  ASSERT_EQ(plain["minimal"].size(), 1U);
  EXPECT_EQ(plain["minimal"][0]["op"], "zero_");
  ASSERT_EQ(plain["random"].size(), 1U);
  EXPECT_EQ(operators(spec_with("zero_", "native"), small_catalog())["minimal"].size(), 0U);
  EXPECT_EQ(operators(spec_with("uniform_", "native"), small_catalog())["random"].size(), 0U);
}

TEST(Operators, AFallbackOfItsOwnIsAKernelOfItsOwn) {
  Spec spec = spec_with("zero_", "cpu_fallback");
  json ops = operators(spec, small_catalog());
  EXPECT_EQ(ops["cpu_fallback"].at(0)["detour"], "detour");
  EXPECT_EQ(ops["tested"].size(), 1U);
  spec.ops[0].fallback.value = FallbackKind::Alias;
  spec.ops[0].fallback.at.line = 1;
  ops = operators(spec, small_catalog());
  EXPECT_EQ(ops["cpu_fallback"].at(0)["detour"], "fall_back<FallbackKind::kAlias>");
  spec.ops[0].fallback.value = FallbackKind::None;
  ops = operators(spec, small_catalog());
  EXPECT_EQ(ops["cpu_fallback"].at(0)["detour"], "fall_back<FallbackKind::kNone>");
  EXPECT_EQ(ops["tested"].size(), 0U);  // without a result to compare
}

TEST(Operators, AReductionFoldsOverItsDims) {
  Catalog catalog = small_catalog();
  catalog.ops[1].arguments[2].type = "at::OptionalIntArrayRef";  // as sum has it
  Spec spec = spec_with("topk.values", "reduction");
  spec.ops[0].combine.value = parse_expr("a + b");
  spec.ops[0].init.value = parse_expr("0");
  spec.ops[0].dtypes.value.push_back({"float32", {}});
  json op = operators(spec, catalog)["reduction"].at(0);
  EXPECT_EQ(op["dims"], "dim.value_or(at::IntArrayRef())");
  EXPECT_EQ(op["map"], "self");
  EXPECT_EQ(op["combine"], "a + b");
  EXPECT_EQ(op["init"], "0");
  EXPECT_EQ(op["finish"], "acc");
  EXPECT_EQ(op["dispatch"], "at::kFloat");
  spec.ops[0].finish.value = parse_expr("acc / count");
  spec.ops[0].finish.at.line = 1;
  EXPECT_EQ(operators(spec, catalog)["reduction"].at(0)["finish"], "acc / count");
  EXPECT_EQ(operators(spec, small_catalog())["reduction"].at(0)["dims"], "{dim}");
}

TEST(Operators, AReductionToAPlacePicks) {
  Catalog catalog = small_catalog();
  Op& max = catalog.ops[1];
  max.name = "max.dim_max";
  max.base = "max";
  max.overload = "dim_max";
  Spec spec = spec_with("max.dim_max", "reduction");
  spec.ops[0].prefer.value = parse_expr("a > b");
  json ops = operators(spec, catalog);
  EXPECT_TRUE(ops["reduction"].empty());
  EXPECT_TRUE(ops["reduces"]);
  EXPECT_EQ(ops["pick"].at(0)["prefer"], "a > b");
  EXPECT_EQ(ops["pick"].at(0)["map"], "self");
  EXPECT_EQ(ops["pick"].at(0)["into_values"], "maybe_get_output(0)");
  EXPECT_EQ(ops["pick"].at(0)["into_places"], "maybe_get_output(1)");
  max.name = spec.ops[0].name.value = "argmax.out";
  max.arguments.pop_back();
  std::swap(catalog.ops[0], catalog.ops[1]);  // sorted by name
  ops = operators(spec, catalog);
  EXPECT_EQ(ops["pick"].at(0)["into_values"], "at::Tensor()");
  EXPECT_EQ(ops["pick"].at(0)["into_places"], "maybe_get_output(0)");
  EXPECT_FALSE(operators(Spec{}, catalog)["reduces"]);
}

TEST(Operators, AProductOfMatricesWithoutASumLeavesItUndefined) {
  const json ops = operators(spec_with("hypot.out", "matmul"), small_catalog());
  EXPECT_EQ(ops["matmul"].at(0)["gemm_args"], "at::Tensor(), self, other, 0, 1");
  EXPECT_EQ(ops["matmul_headers"], json({"ATen/ops/hypot_meta.h", "ATen/ops/hypot_ops.h"}));
  const json sum = operators(spec_with("topk.values", "matmul"), small_catalog());
  EXPECT_EQ(sum["matmul"].at(0)["gemm_args"], "self, k, dim");
  EXPECT_FALSE(sum["dots"]);
}

TEST(Operators, AProductOfVectorsHasNoMeta) {
  Catalog catalog = small_catalog();
  Op& dot = catalog.ops[0];
  dot.structured = false;
  dot.arguments.pop_back();
  dot.returns = "at::Tensor";
  const json ops = operators(spec_with("hypot.out", "matmul"), catalog);
  EXPECT_EQ(ops["matmul"].at(0)["dot_args"], "self, other");
  EXPECT_EQ(ops["matmul_headers"], json({"ATen/ops/hypot_ops.h"}));
  EXPECT_TRUE(ops["dots"]);
  dot.base = "vdot";
  EXPECT_EQ(operators(spec_with("hypot.out", "matmul"), catalog)["matmul"].at(0)["dot_args"], "self.conj(), other");
}

TEST(Operators, KernelsInTheTreeAreSortedByTheHeaderOfTheirStubs) {
  const json families = operators(spec_with("hypot.out", "in_tree"), small_catalog())["in_tree_families"];
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0]["id"], "BinaryOps");
  EXPECT_EQ(families[0]["headers"],
            json({"ATen/native/BinaryOps.h", "ATen/ops/hypot_native.h", "ATen/ops/hypot_ops.h"}));
  EXPECT_EQ(families[0]["ops"].at(0)["op"], "hypot.out");
  EXPECT_EQ(families[0]["stubs"].at(0)["name"], "hypot_stub");
}

TEST(Texts, FilesOfKernelsDifferFromTheOthersInMoreThanCase) {
  Op copy;
  copy.base = "copy";
  EXPECT_EQ(op_file(copy), "copy_kernel");
  copy.overload = "out";
  EXPECT_EQ(op_file(copy), "copy_out");
  for (const char* taken : {"im2col", "pick"}) {
    Op op;
    op.base = taken;
    EXPECT_EQ(op_file(op), std::string(taken) + "_kernel");
  }
}

}  // namespace
}  // namespace openreg_gen
