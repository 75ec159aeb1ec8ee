#include "schema/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace openreg_gen {
namespace {

using testing::ElementsAre;

TEST(Schema, TakesAnArgumentApart) {
  const auto schema =
      parse_schema("aten::f.x(Tensor(a!)[] self, int[2] k=[1,1], *, str mode=\"a,b\", Tensor? w=None) -> ()");
  EXPECT_EQ(schema.name(), "f.x");
  ASSERT_EQ(schema.arguments.size(), 4U);
  EXPECT_EQ(schema.arguments[0].type, "Tensor[]");
  EXPECT_EQ(schema.arguments[0].annotation, "a!");
  EXPECT_EQ(schema.arguments[0].annotated_type(), "Tensor(a!)[]");
  EXPECT_EQ(schema.arguments[1].default_value, "[1,1]");
  EXPECT_FALSE(schema.arguments[1].kwarg_only);
  EXPECT_EQ(schema.arguments[2].default_value, "\"a,b\"");
  EXPECT_TRUE(schema.arguments[3].kwarg_only);
  EXPECT_TRUE(schema.returns.empty());
}

TEST(Schema, WildcardAliasesHoldABlank) {
  const auto schema = parse_schema("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]");
  EXPECT_EQ(schema.arguments[0].annotation, "a -> *");
  EXPECT_EQ(schema.arguments[0].name, "self");
  EXPECT_EQ(schema.returns[0].type, "Tensor[]");
}

TEST(Schema, PrintsWhatItRead) {
  for (const char* text : {"add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
                           "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", "f() -> ()",
                           "cudnn_affine_grid_generator(Tensor theta, int N) -> Tensor grid",
                           "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
                           R"(t(Tensor dummy, str a="\"'\\", str b='"\'\\') -> Tensor)"}) {
    EXPECT_EQ(parse_schema(text).text(), text);
  }
}

TEST(Schema, Kinds) {
  const auto kind = [](const char* text) { return parse_schema(text).kind(); };
  EXPECT_EQ(kind("relu(Tensor self) -> Tensor"), SchemaKind::Functional);
  EXPECT_EQ(kind("relu_(Tensor(a!) self) -> Tensor(a!)"), SchemaKind::Inplace);
  EXPECT_EQ(kind("__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"), SchemaKind::Inplace);
  EXPECT_EQ(kind("__and__.Scalar(Tensor self, Scalar other) -> Tensor"), SchemaKind::Functional);
  EXPECT_EQ(kind("relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"), SchemaKind::Out);
  EXPECT_EQ(kind("f(Tensor self, Tensor(a!) state) -> Tensor"), SchemaKind::Mutable);
  EXPECT_EQ(kind("record_stream(Tensor(a!) self, Stream s) -> ()"), SchemaKind::Functional);
}

TEST(Schema, FormsOfOneOperatorShareAKey) {
  const auto key = [](const char* text) { return parse_schema(text).group_key(); };
  const auto add = key("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(add, key("add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"));
  EXPECT_EQ(add, key("add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"));
  EXPECT_NE(add, key("add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"));
  EXPECT_EQ(key("empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
            key("empty_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)"));
}

TEST(Schema, RefusesWhatIsNone) {
  for (const char* text : {"", "relu", "relu(Tensor self)", "(Tensor self) -> Tensor", "f(Tensor) -> Tensor",
                           "f(Tensor(a! self) -> Tensor", "f(Tensor self) -> (Tensor"}) {
    EXPECT_THROW(parse_schema(text), std::invalid_argument) << text;
  }
}

TEST(Schema, SplitsOutsideBracketsAndQuotes) {
  EXPECT_THAT(split_top_level("a<b,c> x, f(d,e), 'g,h' ,[i,j]", ','),
              ElementsAre("a<b,c> x", "f(d,e)", "'g,h'", "[i,j]"));
  EXPECT_TRUE(split_top_level("  ", ',').empty());
}

}  // namespace
}  // namespace openreg_gen
