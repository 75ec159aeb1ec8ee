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
  const Migration done = migrate("at::Tensor relu(bool a, bool y) {}", "at::Tensor relu(bool a, bool b)",
                                 "at::Tensor relu(bool c, bool a)");
  EXPECT_EQ(done.text, "at::Tensor relu(bool y, bool a) {}") << done.refused;
}

// Both signatures fit by their types, so only names tell which one the kernel has.
TEST(Migrate, ParametersOfOneTypeThatChangePlaces) {
  const char *was = "at::Tensor relu(bool a, bool b, int64_t n)", *now = "at::Tensor relu(bool b, bool a, int64_t n)";
  EXPECT_EQ(migrate("at::Tensor relu(bool a, bool b, int64_t k) { return f(a, b); }", was, now).text,
            "at::Tensor relu(bool b, bool a, int64_t k) { return f(a, b); }");
  const Migration own = migrate("at::Tensor relu(bool x, bool y, int64_t n) {}", was, now);
  EXPECT_TRUE(own.refused.starts_with("'b' has another place, and the kernel calls none of its own so")) << own.refused;
  EXPECT_TRUE(find_kernel("at::Tensor relu(bool b, bool a, int64_t n) {}", now, was).fits);
  EXPECT_TRUE(find_kernel("at::Tensor relu(bool, bool, int64_t n) {}", now, was).fits);
  EXPECT_FALSE(find_kernel("at::Tensor relu(bool a, bool b, int64_t n) {}", now, was).fits);
  // A new name in the same place is only a name.
  EXPECT_TRUE(find_kernel("at::Tensor relu(bool a, bool b) {}", "at::Tensor relu(bool c, bool b)",
                          "at::Tensor relu(bool a, bool b)")
                  .fits);
}

TEST(Migrate, WhatWouldHaveToChangeElsewhereTakesAHand) {
  const char* now = "at::Tensor relu(const at::Tensor& self, bool fast)";
  const auto refused = [&](const std::string& text) { return migrate(text, kOld, now, "!fast").refused; };
  const std::string kernel = "at::Tensor relu(const at::Tensor& x) ";
  const char* used = "'fast' is new, and the body uses this name for something else";
  EXPECT_EQ(refused(kernel + "{\n  for (bool fast : {true}) f(fast);\n  return x;\n}"), used);
  EXPECT_EQ(refused(kernel + "{ return fast(x); }"), used);
  EXPECT_EQ(refused(kernel + "{ return x.fast(mine::fast, y->fast, faster); }  // fast"), "");
  EXPECT_EQ(refused(kernel + ";\n" + kernel + "{ return x; }"), "line 1 declares or calls it, too");
  EXPECT_EQ(refused(kernel + "{\n  return relu(x[0]);\n}"), "line 2 declares or calls it, too");
  EXPECT_EQ(refused(kernel + "{ return x.relu() + at::relu(x); }  // relu(x)"), "");
  EXPECT_NE(refused("at::Tensor relu(\n#if A\n  const at::Tensor& x\n#endif\n) { return x; }"), "");
  EXPECT_NE(refused("#if A\n" + kernel + "{\n#else\nat::Tensor old(int) {\n#endif\n  return x;\n}\n"), "");
}

TEST(Migrate, CallsOfTheCpuKeepTheirArgumentsAndGetTheNewOne) {
  const auto body = [](const std::string& call) {
    const Migration done = migrate(
        "at::Tensor relu(const at::Tensor& x, int64_t n) {\n  if (n) {\n    f();\n  }\n  return " + call + ";\n}",
        "at::Tensor relu(const at::Tensor& self, int64_t n)",
        "at::Tensor relu(int64_t n, const at::Tensor& self, bool fast)", "!fast");
    const std::size_t at = done.text.find("return ");
    return at == std::string::npos ? done.refused : done.text.substr(at + 7, done.text.rfind(';') - at - 7);
  };
  EXPECT_EQ(body("host_call<at::_ops::relu>(x.to(g(1, 2), \"a, b\"), n + 1)"),
            "host_call<at::_ops::relu>(n + 1, x.to(g(1, 2), \"a, b\"), fast)");
  EXPECT_EQ(body("host_call<at::_ops::relu>(x, n) + host_call<at::_ops::relu>(y, 2)"),
            "host_call<at::_ops::relu>(n, x, fast) + host_call<at::_ops::relu>(2, y, fast)");
  // Another operator's signature is its own.
  EXPECT_EQ(body("host_call<at::_ops::relu6>(x, n)"), "host_call<at::_ops::relu6>(x, n)");
  const char* why = "the body calls this operator in a way that can't be rewritten";
  for (const char* call :
       {"host_call<at::_ops::relu>(x)", "at::_ops::relu::call(x, n)", "host_call<at::_ops::relu>(x /* in */, n)",
        "host_call<at::_ops::relu>(host_call<at::_ops::relu>(x, 1), n)"})
    EXPECT_EQ(body(call), why) << call;
}

TEST(Migrate, LinesEndAsTheyDid) {
  const char* now = "at::Tensor relu(const at::Tensor& self, bool fast)";
  const std::string done =
      migrate("// a\r\nat::Tensor relu(const at::Tensor& x) {\r\n  return x;\r\n}\r\n", kOld, now, "!fast").text;
  EXPECT_NE(done.find("'fast'\");\r\n  return x;\r\n}\r\n"), std::string::npos) << done;
  EXPECT_EQ(std::ranges::count(done, '\n'), std::ranges::count(done, '\r'));
  EXPECT_EQ(migrate("// a\nat::Tensor relu(const at::Tensor& x) {\r\n}\n", kOld, now, "!fast").text.find(" \r"),
            std::string::npos);
}

TEST(Migrate, AnotherDefaultIsFound) {
  const auto lines = [](const std::string& condition, const std::string& now) {
    std::string out;
    const std::string text =
        "\n  TORCH_CHECK_NOT_IMPLEMENTED(" + condition + ", \"relu: this kernel only knows the default of 'fast'\");\n";
    for (const OldDefault& each : old_defaults(text, "relu", [&](const std::string&) { return now; }))
      out += each.parameter + std::to_string(each.line);
    EXPECT_TRUE(old_defaults(text, "abs", [&](const std::string&) { return now; }).empty());
    return out;
  };
  EXPECT_EQ(lines("!fast", "!fast"), "");
  EXPECT_EQ(lines("!fast", "fast"), "fast2");
  EXPECT_EQ(lines("fast == 1", "fast == 2"), "fast2");
  EXPECT_EQ(lines("!fast.has_value()", "fast == 2"), "fast2");
  EXPECT_EQ(lines("!fast || ready(fast)", "fast"), "");  // its owner's
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
