#include "cli/explain.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace openreg_gen {
namespace {

using ::testing::HasSubstr;

const Op& op(const std::string& name) { return *installed().find(name); }

std::optional<Derivative> derivative(const std::string& name) {
  static const std::string yaml = [] {
    std::ifstream in(find_derivatives(installed().torch_dir()));
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  EXPECT_FALSE(yaml.empty());
  return find_derivative(yaml, op(name), installed());
}

std::string autograd(const std::string& name) { return about_autograd(op(name), derivative(name)); }

TEST(Explain, WhereAnOperatorIsRegistered) {
  EXPECT_THAT(about_registration(op("add.out")), HasSubstr("PrivateUse1, below autograd"));
  EXPECT_THAT(about_registration(op("add.Tensor")), HasSubstr("'add.out', which is what a backend registers"));
  EXPECT_THAT(about_registration(op("matmul")), HasSubstr("CompositeImplicitAutograd"));
  EXPECT_THAT(about_registration(op("eye")), HasSubstr("CompositeExplicitAutograd"));
  EXPECT_THAT(about_registration(op("nonzero")), HasSubstr("the backend's fallback takes the call"));
  EXPECT_THAT(about_registration(op("view")), HasSubstr("RegisterMinimal.cpp"));
}

TEST(Explain, WhatEndsInItsKernel) {
  EXPECT_EQ(about_variants(op("hypot.out"), installed()), "hypot, hypot_ end in its kernel");
  EXPECT_EQ(about_variants(op("hypot"), installed()), "");
  EXPECT_THAT(about_variants(op("relu_"), installed()), HasSubstr("only this form"));
}

TEST(Explain, Autograd) {
  EXPECT_THAT(autograd("relu"), HasSubstr("PyTorch has a formula:"));
  EXPECT_THAT(autograd("relu_"), HasSubstr("that of 'relu'"));
  EXPECT_THAT(autograd("matmul"), HasSubstr("from the operators that it calls"));
  EXPECT_THAT(autograd("add.out"), HasSubstr("records no gradient"));
  EXPECT_THAT(autograd("eye"), HasSubstr("takes no tensor"));
  EXPECT_EQ(autograd("nonzero"), "its result has no gradient");
  const auto relu = derivative("relu");
  ASSERT_TRUE(relu);
  EXPECT_EQ(relu->formulas, (decltype(relu->formulas){{"self", "threshold_backward(grad, result, 0)"}}));
  ASSERT_TRUE(derivative("add.Tensor"));
  EXPECT_EQ(derivative("add.Tensor")->formulas.size(), 2u);
  EXPECT_FALSE(derivative("abs.out"));
}

TEST(Explain, Decompositions) {
  EXPECT_EQ(about_decomposition({"2.13.0", false, {}, {}, {}}), "");
  EXPECT_THAT(about_decomposition({"2.13.0", true, {}, {}, {}}), HasSubstr("not traced"));
  EXPECT_THAT(about_decomposition({"", true, {}, {}, {}}), HasSubstr("unknown"));
  EXPECT_THAT(about_decomposition({"2.13.0", true, {"mv", "t"}, {"addmv"}, {}}),
              HasSubstr("into mv, t; in the end addmv (traced with PyTorch 2.13.0"));
  EXPECT_EQ(about_callers({"", false, {}, {}, {}}), "");
  EXPECT_THAT(about_callers({"2.13.0", false, {}, {}, {}}), HasSubstr("no composite that was traced"));
  std::vector<std::string> many(15, "x");
  EXPECT_THAT(about_callers({"2.13.0", false, {}, {}, many}), HasSubstr("x, x and 3 more (traced"));
}

TEST(Explain, ThePageNamesTheTreesOwnEntry) {
  Diagnostics diagnostics;
  const Spec spec = parse_spec_text("backend: {name: my}\nops:\n  hypot.out: structured\n", "my.yaml", diagnostics);
  const auto found = find_in_spec(op("hypot_"), resolve(spec, installed(), diagnostics));
  ASSERT_TRUE(found);
  const std::string page = explain_op(op("hypot_"), installed(), derivative("hypot_"), {}, "my.yaml", found).text;
  EXPECT_THAT(page, HasSubstr("my.yaml:3: structured, by 'hypot.out'"));
  EXPECT_THAT(page, HasSubstr("self: grad * self / result"));
  EXPECT_THAT(explain_op(op("relu"), installed(), {}, {}, "my.yaml", {}).text,
              HasSubstr("`openreg-gen add relu` adds it"));
  EXPECT_THAT(explain_op(op("relu"), installed(), {}, {}, "", {}).text, ::testing::Not(HasSubstr("this tree")));
}

TEST(Explain, NotesOfFiles) {
  EXPECT_EQ(note_of("// Written\n// Generated\n#pragma once\n\n// Note [X]\n// one\n//\n// two\n\nint x;  // no\n"),
            "Note [X]\none\n\ntwo\n");
  EXPECT_EQ(note_of("# Written\n\"\"\"Streams.\n\nMore.\"\"\"\nimport x\n"), "Streams.\n\nMore.\n");
  EXPECT_EQ(note_of("// Written\n#include <a>\n\n// What it registers.\n\nnamespace a {\n"), "What it registers.\n");
  EXPECT_EQ(note_of("// Written\n#include <a>\nnamespace a {\n\n// f\nvoid f();\n"), "");
}

TEST(Explain, LinesBelongToOperators) {
  const std::string text =
      "#include <ATen/ops/relu_ops.h>\n"                     // 1
      "\n"                                                   // 2
      "// aten::relu(Tensor self) -> Tensor, in relu.cpp\n"  // 3
      "at::Tensor relu(const at::Tensor& self) {\n"          // 4
      "  const int x = 1;\n"                                 // 5
      "}\n"                                                  // 6
      "\n"                                                   // 7
      "at::Tensor& maximum_out(at::Tensor& out) {\n"         // 8
      "  return out;\n"                                      // 9
      "}\n"                                                  // 10
      "TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {\n"         // 11
      "  MY_IMPL(m, \"abs.out\", at::_ops::abs_out, f);\n"   // 12
      "}\n";                                                 // 13
  const auto line = [&](int n) { return op_of_line(text, n, {"relu", "maximum.out", "abs.out"}, installed()); };
  EXPECT_EQ(line(1), "");
  EXPECT_EQ(line(2), "");
  EXPECT_EQ(line(4), "relu");
  EXPECT_EQ(line(5), "relu");
  EXPECT_EQ(line(6), "relu");
  EXPECT_EQ(line(7), "");
  EXPECT_EQ(line(9), "maximum.out");
  EXPECT_EQ(line(11), "");
  EXPECT_EQ(line(12), "abs.out");
  EXPECT_EQ(line(99), "");
}

TEST(Explain, VirtualsThatAFileAnswers) {
  const std::string table =
      "## `c10::Hooks`\n\n| virtual | file | status | note |\n|---|---|---|---|\n"
      "| `init` | `csrc/a.h` | implemented | why |\n"
      "| `other` | `csrc/b.h` | inherited | no |\n"
      "| `last` | `csrc/a.cpp` | implemented |  |\n";
  EXPECT_TRUE(virtuals_of("", "csrc/a.cpp").empty());
  const auto found = virtuals_of(table, "csrc/a.cpp");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].interface + "::" + found[0].name + " " + found[0].status + " " + found[0].note,
            "c10::Hooks::init implemented why");
  EXPECT_EQ(found[1].name + found[1].note, "last");
}

}  // namespace
}  // namespace openreg_gen
