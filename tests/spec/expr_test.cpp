#include "spec/expr.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

std::string result(std::string_view text) {
  const Expr expr = parse_expr(text);
  if (expr.error) return expr.error->code + "@" + std::to_string(expr.error->offset);
  std::string names;
  for (const auto& [name, offset] : expr.names) names += name + "@" + std::to_string(offset) + " ";
  return names;
}

TEST(Expr, NamesWithTheirOffsets) {
  EXPECT_EQ(result("self"), "self@0 ");
  EXPECT_EQ(result("std::sqrt(self * self + other * other)"), "self@10 self@17 other@24 other@32 ");
  EXPECT_EQ(result("self < 0 ? -self : self"), "self@0 self@12 self@19 ");
}

TEST(Expr, AcceptsWhatCppAccepts) {
  for (const auto text : {"1",
                          "1.5e-3f",
                          "0x1F",
                          ".5",
                          "1.",
                          "a+b*c-d/e%f",
                          "!(a&&b||c)",
                          "~a",
                          "- -a",
                          "a<<2>>1",
                          "a<=b",
                          "a==b!=c",
                          "a&b|c^d",
                          "static_cast<scalar_t>(a)",
                          "scalar_t(1)",
                          "std::max(a, b)",
                          "a ? b ? c : d : e",
                          "true",
                          "((a))",
                          "a - -b",
                          "c10::div_floor_integer(a, b)"}) {
    EXPECT_FALSE(parse_expr(text).error) << text << ": " << parse_expr(text).error->message;
  }
}

TEST(Expr, RefusesTheRest) {
  EXPECT_EQ(result(""), "E0156@0");
  EXPECT_EQ(result("a b"), "E0156@2");
  EXPECT_EQ(result("a = b"), "E0156@2");
  EXPECT_EQ(result("a -= b"), "E0156@2");
  EXPECT_EQ(result("a <<= b"), "E0156@2");
  EXPECT_EQ(result("--a"), "E0156@0");
  EXPECT_EQ(result("a.b"), "E0156@1");
  EXPECT_EQ(result("a, b"), "E0156@1");
  EXPECT_EQ(result("a; b"), "E0155@1");
  EXPECT_EQ(result("a /* b"), "E0155@2");
  EXPECT_EQ(result("a[0]"), "E0155@1");
  EXPECT_EQ(result("\"a\""), "E0155@0");
  EXPECT_EQ(result("f(a)"), "E0157@0");
  EXPECT_EQ(result("std::system(a)"), "E0157@0");
  EXPECT_EQ(result("::abort()"), "E0156@0");
  EXPECT_EQ(result("std::sqrt"), "E0156@0");
  EXPECT_EQ(result("return a"), "E0156@0");
  EXPECT_EQ(result("1x"), "E0156@0");
  EXPECT_EQ(result("a *"), "E0156@2");
  EXPECT_EQ(result("a ? b"), "E0156@2");
  EXPECT_EQ(result(std::string(400, '-')), "E0156@0");
  EXPECT_EQ(result(std::string(400, '!') + "a").substr(0, 5), "E0156");
  EXPECT_EQ(result(std::string(2000, 'a')), "E0156@0");
}

}  // namespace
}  // namespace openreg_gen
