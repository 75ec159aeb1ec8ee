#include "spec/expr.h"

#include "spec/kernel_language.h"
#include "spec/print_expr.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

std::string result(std::string_view text) {
  const Expr expr = parse_expr(text);
  if (expr.error) return expr.error->code + "@" + std::to_string(expr.error->offset);
  std::string names;
  each_name(expr.root, [&](const ExprNode& use) { names += use.text + "@" + std::to_string(use.offset) + " "; });
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

TEST(Expr, PrintedAsCpp) {
  const auto cpp = [](std::string_view text) { return cpp_text(parse_expr(text)); };
  EXPECT_EQ(cpp("a+b*-c"), "a + b * -c");
  EXPECT_EQ(cpp("- -a"), "- -a");
  EXPECT_EQ(cpp("self<0?-grad:(self>0?grad:0)"), "self < 0 ? -grad : (self > 0 ? grad : 0)");
  EXPECT_EQ(cpp("std :: hypot( self,other )"), "std::hypot(self, other)");
  EXPECT_EQ(cpp("static_cast < scalar_t > (self)"), "static_cast<scalar_t>(self)");
  EXPECT_EQ(cpp("scalar_t(0) + 1.5e-3f"), "static_cast<scalar_t>(0) + 1.5e-3f");
  EXPECT_EQ(parse_expr("int(a, b)").error->code, "E0156");
}

TEST(Expr, PrintedAsPython) {
  const auto python = [](std::string_view text) { return python_text(parse_expr(text)); };
  EXPECT_EQ(python("self < 0 ? -grad : grad"), "cpp.where(self < 0, -grad, grad)");
  EXPECT_EQ(python("!(a && b) || true"), "cpp.logical_or(cpp.logical_not((cpp.logical_and(a, b))), True)");
  EXPECT_EQ(python("a / b % 2"), "cpp.modulo(cpp.divide(a, b), 2)");
  EXPECT_EQ(python("a & b == c"), "a & (b == c)");
  EXPECT_EQ(python("a < b == c"), "(a < b) == c");
  EXPECT_EQ(python("std::fmax(a, 0x1FuL) + 1.5F + 017"), "cpp.fmax(a, 0x1f) + 1.5 + 0o17");
  EXPECT_EQ(python("static_cast<int64_t>(a) - c10::div_floor_integer(a, b)"),
            "cpp.cast(\"int64_t\", a) - cpp.div_floor_integer(a, b)");
}

TEST(Expr, PrintedAsGlsl) {
  const auto glsl = [](std::string_view text) { return find_kernel_language("glsl")->print(parse_expr(text)); };
  EXPECT_EQ(glsl("self <= 0 ? value : 0.5f"), "v_self <= 0 ? v_value : constant(0.5lf)");
  EXPECT_EQ(glsl("!a && b"), "!bool(v_a) && bool(v_b)");
  EXPECT_EQ(glsl("(a < b) + 1LL"), "int((v_a < v_b)) + 1L");
  EXPECT_EQ(glsl("a % 2"), "f_rest(v_a, 2)");
  EXPECT_EQ(glsl("has_value(low) ? value_or(low, 0) : scalar_t(a)"),
            "has_low ? (has_low ? v_low : acc_t(0)) : to_scalar(v_a)");
}

TEST(Expr, FunctionsThatALanguageLacks) {
  const KernelLanguage& glsl = *find_kernel_language("glsl");
  EXPECT_EQ(KernelLanguage::first_of(glsl.lacks, parse_expr("1 - std::erf(self)")), "std::erf");
  EXPECT_EQ(KernelLanguage::first_of(glsl.lacks, parse_expr("std::exp(self)")), "");
  EXPECT_EQ(KernelLanguage::first_of(glsl.lacks_in_float64, parse_expr("std::exp(self)")), "std::exp");
}

TEST(Expr, PrintedAsOpenCl) {
  const auto opencl = [](std::string_view text) { return find_kernel_language("opencl_c")->print(parse_expr(text)); };
  EXPECT_EQ(opencl("self <= 0 ? value : half"), "v_self <= 0 ? v_value : v_half");
  EXPECT_EQ(opencl("std::fmax(a, 1LL) % c10::div_floor_integer(a, 2ull)"),
            "f_fmax(v_a, 1L) % f_div_floor_integer(v_a, 2ul)");
  EXPECT_EQ(opencl("has_value(low) ? value_or(low, 0) : a"), "has_low ? (has_low ? v_low : (acc_t)(0)) : v_a");
  EXPECT_EQ(opencl("scalar_t(a) + static_cast<int64_t>(b) + bool(c)"),
            "to_scalar(v_a) + ((long)(v_b)) + ((bool)(v_c))");
}

TEST(Expr, OffsetsOfOneBehindAnother) {
  const Expr expr = parse_expr("a + b", 10);
  EXPECT_EQ(expr.root.offset, 12U);
  EXPECT_EQ(expr.root.parts[1].offset, 14U);
  EXPECT_EQ(parse_expr("a +", 10).error->offset, 12U);
}

std::string dtypes(std::string_view text, const std::vector<std::string>& list) {
  const auto error = dtype_error(parse_expr(text), list, [](const std::string& name) { return name != "n"; });
  return error ? error->message + "@" + std::to_string(error->offset) : "";
}

TEST(Expr, BitsAreOfIntegers) {
  EXPECT_EQ(dtypes("self & other", {"int64", "bool"}), "");
  EXPECT_EQ(dtypes("self & other", {"int64", "float16"}), "'&' is not defined for float16@5");
  EXPECT_EQ(dtypes("1 + self % 2", {}), "'%' is not defined for float32@9");
  EXPECT_EQ(dtypes("-(self << n)", {"bfloat16"}), "'<<' is not defined for bfloat16@7");
  EXPECT_EQ(dtypes("~std::abs(self)", {"complex64"}), "'~' is not defined for complex64@0");
  EXPECT_EQ(dtypes("(self > 0) & (other > 0)", {"float32"}), "");
  EXPECT_EQ(dtypes("std::isnan(self) | std::isnan(other)", {"float32"}), "");
  EXPECT_EQ(dtypes("self * (n % 2)", {"float32"}), "");
  EXPECT_EQ(dtypes("int(self) % 2", {"float32"}), "");
  EXPECT_EQ(dtypes("static_cast<scalar_t>(self) ^ 1", {"float64"}), "'^' is not defined for float64@28");
}

TEST(Expr, OrderIsOfRealNumbers) {
  EXPECT_EQ(dtypes("self < 0 ? -self : self", {"float32", "int64"}), "");
  EXPECT_EQ(dtypes("self < 0 ? -self : self", {"float32", "complex64"}), "'<' is not defined for complex64@5");
  EXPECT_EQ(dtypes("std::abs(self) < 1 ? self : scalar_t(0)", {"complex128"}), "");
  EXPECT_EQ(dtypes("std::fmax(self, other)", {"complex64"}), "'std::fmax' is not defined for complex64@0");
  EXPECT_EQ(dtypes("std::sqrt(self * self)", {"complex64"}), "");
  EXPECT_EQ(dtypes("self == other", {"complex64"}), "");
}

}  // namespace
}  // namespace openreg_gen
