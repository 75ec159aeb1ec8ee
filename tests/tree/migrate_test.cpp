// An owner's kernel, rewritten for a signature that changed.
#include "tree/migrate.h"

#include "tree/kernel_signature.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

Migration migrate(std::string_view text, std::string_view was, std::string_view now,
                  const std::string& condition = {}) {
  return migrate_kernel(text, was, now, "relu", [&](const std::string&) { return condition; });
}

constexpr const char* kOld = "at::Tensor relu(const at::Tensor& self)";

TEST(Migrate, ANewParameterRaisesUnlessItHasItsDefault) {
  const Migration done =
      migrate("namespace mine {\n\n// Ours.\nat::Tensor relu(const at::Tensor& x) {\n  return x;\n}\n}\n", kOld,
              "at::Tensor relu(const at::Tensor& self, bool fast)", "!fast");
  EXPECT_EQ(done.text,
            "namespace mine {\n\n// Ours.\nat::Tensor relu(const at::Tensor& x, bool fast) {\n"
            "  TORCH_CHECK_NOT_IMPLEMENTED(!fast, \"relu: this kernel only knows the default of 'fast'\");\n"
            "  return x;\n}\n}\n");
  EXPECT_EQ(done.changes,
            std::vector<std::string>{"'fast' is new; the kernel raises an error unless it has its default"});
}

TEST(Migrate, OfABodyInOneLine) {
  const Migration done = migrate("at::Tensor relu(const at::Tensor& x) { return x; }\n", kOld,
                                 "at::Tensor relu(const at::Tensor& self, bool fast)", "!fast");
  EXPECT_EQ(done.text,
            "at::Tensor relu(const at::Tensor& x, bool fast) {\n"
            "  TORCH_CHECK_NOT_IMPLEMENTED(!fast, \"relu: this kernel only knows the default of 'fast'\");\n"
            "  return x; }\n");
}

TEST(Migrate, AKernelThatOnlyCallsTheCpuHandsTheNewParameterOn) {
  const char* now = "at::Tensor relu(const at::Tensor& self, bool fast)";
  const Migration done = migrate(
      "at::Tensor relu(const at::Tensor& self) {\n  return host_call<at::_ops::relu>(self);\n}\n", kOld, now, "!fast");
  EXPECT_EQ(
      done.text,
      "at::Tensor relu(const at::Tensor& self, bool fast) {\n  return host_call<at::_ops::relu>(self, fast);\n}\n");
  EXPECT_EQ(done.changes, std::vector<std::string>{"'fast' is new; the kernel hands it on"});
  const Migration more = migrate(
      "at::Tensor relu(const at::Tensor& x) {\n  if (ok(x)) return x;\n  return host_call<at::_ops::relu>(x);\n}\n",
      kOld, now, "!fast");
  EXPECT_NE(more.text.find("TORCH_CHECK_NOT_IMPLEMENTED(!fast"), std::string::npos);
  EXPECT_NE(more.text.find("host_call<at::_ops::relu>(x, fast)"), std::string::npos);
}

TEST(Migrate, CommentsAndNamesStay) {
  const Migration done = migrate("at::Tensor relu(const at::Tensor& /* in */) {\n}\n// relu(1)\n", kOld,
                                 "at::Tensor relu(double slope, const at::Tensor& self)", "slope == 0.5");
  EXPECT_TRUE(done.text.starts_with("at::Tensor relu(double slope, const at::Tensor& /* in */) {\n")) << done.text;
}

TEST(Migrate, ConstIsGainedAndLost) {
  const char *loose = "at::Tensor relu(at::Tensor& self, int64_t n)",
             *strict = "at::Tensor relu(const at::Tensor& self, int64_t n)";
  EXPECT_EQ(migrate("at::Tensor relu(at::Tensor& x, int64_t n) {}", loose, strict).text,
            "at::Tensor relu(const at::Tensor& x, int64_t n) {}");
  EXPECT_EQ(migrate("at::Tensor relu(const at::Tensor& x, int64_t n) {}", strict, loose).text,
            "at::Tensor relu(at::Tensor& x, int64_t n) {}");
}

TEST(Migrate, ParametersMoveWithTheirNames) {
  const Migration done = migrate("at::Tensor relu(const at::Tensor& x, int64_t k, bool keep) { return f(x, k, keep); }",
                                 "at::Tensor relu(const at::Tensor& self, int64_t k, bool keepdim)",
                                 "at::Tensor relu(const at::Tensor& self, bool keepdim, int64_t k)");
  EXPECT_EQ(done.text, "at::Tensor relu(const at::Tensor& x, bool keep, int64_t k) { return f(x, k, keep); }");
}

TEST(Migrate, ARenamedParameterBesideANewOne) {
  const Migration done =
      migrate("at::Tensor relu(const at::Tensor& self, const at::Tensor& tensor) {\n}",
              "at::Tensor relu(const at::Tensor& self, const at::Tensor& tensor)",
              "at::Tensor relu(const at::Tensor& self, const at::Tensor& other, bool conj)", "!conj");
  EXPECT_TRUE(done.text.starts_with("at::Tensor relu(const at::Tensor& self, const at::Tensor& tensor, bool conj) {"));
  EXPECT_EQ(done.changes.size(), 2u);
}

// 'a' may have become either; a kernel with the wrong one compiles.
TEST(Migrate, ARenamedParameterBesideANewOneOfItsTypeTakesAHand) {
  const char *text = "at::Tensor relu(const at::Tensor& x, bool fast) {}",
             *was = "at::Tensor relu(const at::Tensor& self, bool a)";
  for (const char* now : {"at::Tensor relu(const at::Tensor& self, bool c, bool b)",
                          "at::Tensor relu(bool c, const at::Tensor& self, bool b)"}) {
    const Migration done = migrate(text, was, now, "true");
    EXPECT_EQ(done.refused, "'a' is gone, or it is now 'c' or 'b'");
    EXPECT_EQ(done.text, "");
  }
  const Migration two = migrate("at::Tensor relu(bool x, bool y) {}", "at::Tensor relu(bool a, bool b)",
                                "at::Tensor relu(bool c, bool d)");
  EXPECT_EQ(two.refused, "'a' is gone, or it is now 'c' or 'd'");
  // By name first: one of the type is left in both.
  const Migration done = migrate("at::Tensor relu(bool x, bool y) {}", "at::Tensor relu(bool a, bool b)",
                                 "at::Tensor relu(bool c, bool a)");
  EXPECT_EQ(done.text, "at::Tensor relu(bool y, bool x) {}") << done.refused;
}

TEST(Migrate, LongListsGetALineEach) {
  std::string was = "void relu(", now;
  for (int i = 0; i < 6; ++i) was += (i ? ", const at::Tensor& t" : "const at::Tensor& t") + std::to_string(i);
  now = was + ", bool fast)";
  was += ")";
  const Migration done = migrate(was + " {\n}", was, now, "!fast");
  EXPECT_NE(done.text.find("void relu(\n    const at::Tensor& t0,\n    const"), std::string::npos) << done.text;
  EXPECT_TRUE(find_kernel(done.text, now).fits);
}

TEST(Migrate, WhatTakesAHand) {
  const std::string text = "at::Tensor relu(const at::Tensor& x, int64_t n) {}";
  const char* was = "at::Tensor relu(const at::Tensor& self, int64_t n)";
  const std::pair<const char*, const char*> kCases[] = {
      {"at::Tensor relu(const at::Tensor& self, int64_t n, bool fast)",
       "'fast' is new and has no default that this kernel could stand for"},
      {"at::Tensor relu(const at::Tensor& self)", "'n' is gone"},
      {"at::Tensor relu(const at::Tensor& self, double n)", "the type of 'n' is another"},
      {"at::Tensor& relu(const at::Tensor& self, int64_t n)", "it returns another type"},
  };
  for (const auto& [now, why] : kCases) {
    const Migration done = migrate(text, was, now);
    EXPECT_EQ(done.refused, why);
    EXPECT_EQ(done.text, "");
  }
  const char* now = "at::Tensor relu(const at::Tensor& self, int64_t n, bool fast)";
  EXPECT_EQ(migrate("at::Tensor relu(const at::Tensor& x, int64_t fast) {}", was, now, "!fast").refused,
            "the kernel calls another parameter 'fast'");
  EXPECT_EQ(migrate("at::Tensor relu(double x) {}", was, now, "!fast").refused,
            "the kernel has neither the old signature nor the new one");
  EXPECT_EQ(migrate("at::Tensor relu(const at::Tensor& x, int64_t n);\n", was, now, "!fast").refused,
            "there is not exactly one definition of the kernel in this file");
  EXPECT_EQ(migrate(text + "\n" + text, was, now, "!fast").refused,
            "there is not exactly one definition of the kernel in this file");
}

TEST(Migrate, DefaultsThatCppCanCompare) {
  const std::tuple<const char*, const char*, const char*> kCases[] = {
      {"bool", "False", "!x"},
      {"bool", "True", "x"},
      {"int?", "None", "!x.has_value()"},
      {"Tensor?", "None", "!x.has_value()"},
      {"int", "-1", "x == -1"},
      {"SymInt", "0", "x == 0"},
      {"float", "1e-05", "x == 1e-05"},
      {"Scalar", "1", "x.equal(1)"},
      {"str", "'none'", "x == \"none\""},
      {"int[]", "[]", "x.empty()"},
      {"int", "Mean", "x == at::Reduction::Mean"},
      {"MemoryFormat", "contiguous_format", "x == at::MemoryFormat::Contiguous"},
      {"int[2]", "0", ""},
      {"Tensor", "", ""},
      {"Tensor", "None", ""},
  };
  for (const auto& [type, value, cpp] : kCases) EXPECT_EQ(equals_default(type, value, "x"), cpp) << type << value;
}

}  // namespace
}  // namespace openreg_gen
