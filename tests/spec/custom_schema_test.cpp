#include "spec/custom_schema.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

TEST(CustomSchema, DefaultsFitTheirTypes) {
  CustomSchemaError error;
  const auto schema = parse_custom_schema(
      "op(Tensor x, int[2] k=[1,1], float? e=None, int[2] d=1, float[] w=[0.5, 1], *, str m=\"a, b\", bool f=True) -> "
      "Tensor[]",
      error);
  ASSERT_TRUE(schema) << error.message;
  EXPECT_EQ(schema->arguments[1].default_value, "[1,1]");
  EXPECT_EQ(schema->arguments[4].default_value, "[0.5, 1]");
  EXPECT_EQ(schema->arguments[5].default_value, "\"a, b\"");
  for (const char* text :
       {"op(int k=None) -> Tensor", "op(int k=0.5) -> Tensor", "op(int[] k=1) -> Tensor", "op(bool b=1) -> Tensor",
        "op(str s=a) -> Tensor", "op(Tensor? t=1) -> Tensor", "op(int k=1, int n) -> Tensor"}) {
    EXPECT_FALSE(parse_custom_schema(text, error)) << text;
    EXPECT_EQ(error.code, "E0225") << text;
  }
}

TEST(CustomSchema, ViewsAndInPlaceResultsAreAllowed) {
  CustomSchemaError error;
  for (const char* text :
       {"op(Tensor(a) x) -> Tensor(a)", "op(Tensor(a) x, Tensor y) -> (Tensor(a), Tensor)",
        "op(Tensor(a) x) -> Tensor(a)[]", "op_(Tensor(a!) x, int n) -> Tensor(a!)", "op(Tensor(a!) x) -> ()"}) {
    EXPECT_TRUE(parse_custom_schema(text, error)) << text << ": " << error.message;
  }
}

TEST(CustomSchema, OtherReturnsThatShareMemoryAreRefused) {
  CustomSchemaError error;
  for (const char* text :
       {"op(Tensor x) -> Tensor(a)", "op(Tensor(b) x) -> Tensor(a)", "op(Tensor(a) x, Tensor(b!) y) -> Tensor(a)",
        "op(Tensor x, Tensor(a!) y) -> Tensor(a!)", "op(Tensor(a!) x) -> Tensor(a)",
        "op(Tensor(a!) x) -> (Tensor(a!), Tensor)", "op.out(Tensor x, *, Tensor(a!) out) -> (Tensor(a!) out, int)"}) {
    EXPECT_FALSE(parse_custom_schema(text, error)) << text;
    EXPECT_EQ(error.code, "E0226") << text;
  }
}

TEST(CustomSchema, ArgumentsAndReturns) {
  CustomSchemaError error;
  const auto schema = parse_custom_schema(
      "my_op.out(Tensor self, Tensor? w, int[2] k, *, float eps=1e-6, Tensor(a!) out) -> (Tensor out, int)", error);
  ASSERT_TRUE(schema) << error.message;
  EXPECT_EQ(schema->base, "my_op");
  EXPECT_EQ(schema->overload, "out");
  ASSERT_EQ(schema->arguments.size(), 5u);
  EXPECT_EQ(schema->arguments[1].type, "Tensor?");
  EXPECT_EQ(schema->arguments[2].type, "int[2]");
  EXPECT_EQ(schema->arguments[3].default_value, "1e-6");
  EXPECT_TRUE(schema->arguments[3].kwarg_only);
  EXPECT_FALSE(schema->arguments[2].kwarg_only);
  ASSERT_EQ(schema->returns.size(), 2u);
  EXPECT_EQ(schema->returns[0].name, "out");
  EXPECT_EQ(schema->returns[1].type, "int");
  EXPECT_TRUE(parse_custom_schema("op() -> ()", error));
}

TEST(CustomSchema, ErrorsPointAtTheirPlace) {
  const auto at = [](std::string_view text) {
    CustomSchemaError error;
    return parse_custom_schema(text, error) ? std::string("fine") : error.code + "@" + std::to_string(error.offset);
  };
  EXPECT_EQ(at(""), "E0160@0");
  EXPECT_EQ(at("op"), "E0160@1");
  EXPECT_EQ(at("op(Tensor) -> Tensor"), "E0160@9");
  EXPECT_EQ(at("op(Tesnor a) -> Tensor"), "E0162@3");
  EXPECT_EQ(at("op(Tensor(ab) a) -> Tensor"), "E0160@9");
  EXPECT_EQ(at("op(Tensor grad) -> Tensor"), "E0161@10");
  EXPECT_EQ(at("op(int[x] a) -> Tensor"), "E0160@6");
  EXPECT_EQ(at("op(Tensor a) -> Tensor b Tensor"), "E0160@25");
  EXPECT_EQ(at("op(Tensor a) -> (Tensor"), "E0160@16");
}

}  // namespace
}  // namespace openreg_gen
