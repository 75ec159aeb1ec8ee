// An owner's kernel against the signature that its registration calls.
#include "tree/kernel_signature.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

constexpr const char* kRelu = "at::Tensor relu(const at::Tensor& self)";
constexpr const char* kAdd = "at::Tensor& add_out(const at::Tensor& self, const at::Scalar& alpha, at::Tensor& out)";

void expect(const char* text, const char* signature, int line, bool fits) {
  const FoundKernel place = find_kernel(text, signature);
  EXPECT_EQ(place.line, line) << text;
  EXPECT_EQ(place.fits, fits) << text;
}

TEST(Drift, NamesDefaultsCommentsAndNamespacesDoNotMatter) {
  for (const char* text : {
           "at::Tensor relu(const at::Tensor& self) {",
           "Tensor relu(const Tensor & x) {",
           "static inline at::Tensor relu(const at::Tensor& /* in */) {",
           "at::Tensor mine::relu(const at::Tensor& self = {}) {",
           "[[nodiscard]] at::Tensor relu([[maybe_unused]] const at::Tensor& self) {",
           "auto relu(const at::Tensor& self) -> at::Tensor {",
           "::at::Tensor relu(\n    const ::at::Tensor& self  // what comes in\n) {",
       }) {
    expect(text, kRelu, 1, true);
  }
  expect("at::Tensor\nrelu(const at::Tensor& self) {}", kRelu, 2, true);
}

TEST(Drift, OtherTypesDoNotFit) {
  for (const char* text : {
           "at::Tensor relu(at::Tensor& self) {",
           "at::Tensor relu(const at::Tensor self) {",
           "at::Tensor relu() {",
           "at::Tensor relu(const at::Tensor& self, bool fast) {",
           "void relu(const at::Tensor& self) {",
           "at::Tensor& relu(const at::Tensor& self) {",
           "at::Tensor relu(const at::TensorList& self) {",
       }) {
    expect(text, kRelu, 1, false);
  }
}

TEST(Drift, WhatIsNotThere) {
  expect("", kRelu, 0, false);
  expect("at::Tensor relu_(at::Tensor& self) {}\nint prelu(int);\nint relu;\n", kRelu, 0, false);
  expect("// at::Tensor relu(const at::Tensor& self) {}\n/* relu(1) */ const char* s = \"relu(2)\";\n", kRelu, 0,
         false);
  expect("at::Tensor relu(const at::Tensor& self) {", "no signature", 0, false);
}

TEST(Drift, TheDefinitionIsNamedRatherThanACallOrDeclaration) {
  const char* text =
      "at::Tensor relu(const at::Tensor& self, bool fast);\n"
      "auto x = relu(a);\n"
      "at::Tensor relu(const at::Tensor& self, bool fast) {\n"
      "  return relu(self);\n"
      "}\n";
  expect(text, kRelu, 3, false);
}

TEST(Drift, AmongOverloadsTheOneThatFitsCounts) {
  expect("at::Tensor relu(int x) { return {}; }\nat::Tensor relu(const at::Tensor& self) { return self; }\n", kRelu, 2,
         true);
}

TEST(Drift, ManyParametersAndTemplates) {
  expect("Tensor& add_out(const Tensor& a, const Scalar& b, Tensor& c) { return c; }", kAdd, 1, true);
  expect("Tensor& add_out(const Tensor& a, Tensor& c, const Scalar& b) { return c; }", kAdd, 1, false);
  const char* wide =
      "std::tuple<at::Tensor, at::Tensor> sort(const at::Tensor& self, std::optional<bool> stable, "
      "std::array<bool, 2> mask)";
  expect(
      "std::tuple<Tensor, Tensor> sort(const Tensor& x, std::optional<bool> s = std::nullopt, std::array<bool, 2> m) {",
      wide, 1, true);
  expect("std::tuple<Tensor, Tensor> sort(const Tensor& x, std::optional<bool> s, std::array<bool, 3> m) {", wide, 1,
         false);
}

TEST(Drift, SymIntsMayBeTakenAsIntegers) {
  const char* view = "at::Tensor view(const at::Tensor& self, c10::SymIntArrayRef size, c10::SymInt n)";
  expect("at::Tensor view(const at::Tensor& self, at::IntArrayRef size, int64_t n) {", view, 1, true);
  expect("at::Tensor view(const at::Tensor& self, c10::SymIntArrayRef size, c10::SymInt n) {", view, 1, true);
  expect("at::Tensor view(const at::Tensor& self, at::IntArrayRef size, int32_t n) {", view, 1, false);
}

void expect_unread(const std::string& text, int line) {
  expect(text.c_str(), kRelu, line, false);
  EXPECT_FALSE(find_kernel(text, kRelu).read) << text;
}

TEST(Drift, OneBranchOfAnIfFits) {
  for (const std::string test : {"#if X_TORCH_HAS_FAST", "  #  ifdef A \\\n  B"}) {
    expect((test + "\nat::Tensor relu(const at::Tensor& self) {\n#else\nat::Tensor relu(int x) {\n#endif\n}\n").c_str(),
           kRelu, static_cast<int>(std::ranges::count(test, '\n')) + 2, true);
    expect(("at::Tensor relu(const at::Tensor& self\n" + test + "\n, bool fast\n#endif\n) {\n}\n").c_str(), kRelu, 1,
           true);
    expect(("at::Tensor relu(\n" + test + "\nint x\n#else\nconst at::Tensor& self\n#endif\n) {\n}\n").c_str(), kRelu, 1,
           true);
    expect(("at::Tensor relu(\n" + test + "\nint x\n#else\nbool self\n#endif\n) {\n}\n").c_str(), kRelu, 1, false);
  }
  // All of the file is for some releases, too.
  expect("#if A\nat::Tensor relu(\n#if B\nint x\n#else\nconst at::Tensor& self\n#endif\n) {\n}\n#endif\n", kRelu, 2,
         true);
}

TEST(Drift, WhatIsRegisteredCounts) {
  const auto registered = [](const std::string& function) {
    return "\nX_KERNEL(\"relu\", at::_ops::relu, " + function + ", \"native\");\n";
  };
  expect(registered("[](const at::Tensor& self) { return relu(self, 1); }").c_str(), kRelu, 2, true);
  expect(registered("[](const auto& x) -> at::Tensor { return x; }").c_str(), kRelu, 2, true);
  expect(registered("[](auto x) { return x; }").c_str(), kRelu, 2, true);
  expect(registered("[](const at::Tensor& self, bool fast) { return self; }").c_str(), kRelu, 2, false);
  expect(("at::Tensor mine(const at::Tensor& x) { return x; }" + registered("&mine")).c_str(), kRelu, 1, true);
  expect(("at::Tensor mine(int x) { return x; }" + registered("mine")).c_str(), kRelu, 1, false);
  const std::string generic = "template <class T, int N>\nat::Tensor relu(const at::Tensor& x";
  expect((generic + ") { return x; }" + registered("relu<float, 2>")).c_str(), kRelu, 2, true);
  expect((generic + ", T y) { return x; }" + registered("relu<float, 2>")).c_str(), kRelu, 2, false);
  expect(("template <class T>\nT relu(T x) { return x; }" + registered("relu<at::Tensor>")).c_str(), kRelu, 2, true);
  expect_unread(registered("elsewhere"), 2);
  expect_unread(registered("table[0]"), 2);
  expect_unread(registered("[] { return 1; }"), 2);
  expect_unread("", 0);
}

TEST(Drift, LiteralsAreNotCode) {
  const std::string kernel = "at::Tensor relu(const at::Tensor& self) { return self; }\n";
  for (const std::string literal : {
           R"('"')",
           R"('{')",
           R"('\'')",
           R"('\\')",
           R"('"' + '"' + '"')",
           "L'\"'",
           "u8'/'",
           "1'000",
           "0xFF'FF",
           "1'0 + 0b1'1 + '\"'",
           R"--(R"(")")--",
           R"--(R"x(relu(1) ")" )x")--",
           R"--(u8R"({" // )")--",
           R"--(LR"(/*)")--",
           R"("R\"(")",
           R"(BAR"(")",
           R"("//")",
       }) {
    expect(("auto x = " + literal + ";\n" + kernel).c_str(), kRelu, 2, true);
    expect(("auto f() { return " + literal + "; }\n" + kernel).c_str(), kRelu, 2, true);
  }
  expect("const char* text = R\"(\nat::Tensor relu(const at::Tensor& self) {}\n)\";\n", kRelu, 0, false);
  expect("at::Tensor relu(const at::Tensor& self, char c = ',') {", kRelu, 1, false);
  expect("auto x = ','; void relu(const char* s = R\"(,int)\", char c = ')') {", "void relu(const char* s, char c)", 1,
         true);
}

TEST(Drift, TextsThatEndInTheMiddle) {
  for (const char* text : {"/*", "\"", "\"\\", "relu(", "at::Tensor relu(const at::Tensor& self", "relu(<<", "/", "'",
                           "'\\", "R\"", "R\"x", "R\"x(", "R\"x()", "1'", "R"}) {
    EXPECT_FALSE(find_kernel(text, kRelu).fits) << text;
  }
}

}  // namespace
}  // namespace openreg_gen
