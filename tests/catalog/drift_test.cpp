#include "catalog/drift.h"

#include "catalog/schema_diff.h"
#include "support.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Catalog small(const TempDir& dir, const std::string& name, const std::string& functions) {
  const auto folder = std::filesystem::path(name) / kDeclarations;
  dir.write(folder / "native_functions.yaml", functions);
  dir.write(folder / "tags.yaml", "- tag: core\n  desc: |\n    x\n");
  return build_catalog(find_sources(dir.path() / name));
}

// Excerpts of native_functions.yaml as it was and as it became; the last ones are made up.
constexpr auto kBefore = R"(- func: tril(Tensor self, int diagonal=0) -> Tensor
  structured_delegate: tril.out
- func: tril.out(Tensor self, int diagonal=0, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: tril_cpu
- func: _cdist_backward(Tensor grad, Tensor x1, float p) -> Tensor
  dispatch:
    CPU, CUDA: _cdist_backward
- func: qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)
- func: all.dimname(Tensor self, Dimname dim, bool keepdim=False) -> Tensor
- func: all(Tensor self) -> Tensor
- func: ldexp.Tensor(Tensor self, Tensor other) -> Tensor
- func: mm_v2(Tensor self, Tensor mat2) -> Tensor
  dispatch:
    CPU: mm_v2
- func: gone(Tensor self) -> Tensor
  dispatch:
    CPU: gone
- func: kept_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: kept_
  autogen: kept, kept.out
- func: fuse(Tensor self) -> Tensor
  dispatch:
    CPU: fuse
)";
constexpr auto kAfter = R"(- func: tril(Tensor self, SymInt diagonal=0) -> Tensor
  structured_delegate: tril.out
- func: tril.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: tril_cpu
- func: _cdist_backward(Tensor grad_output, Tensor x1, float p) -> Tensor
  dispatch:
    CPU, CUDA: _cdist_backward
- func: linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)
- func: all(Tensor self) -> Tensor
- func: ldexp.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    CompositeExplicitAutograd: ldexp
- func: mm_v2(Tensor self, Tensor mat2) -> Tensor
  structured_delegate: mm_v2.out
- func: mm_v2.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: mm_v2
- func: kept_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: kept_
- func: fuse(Tensor self) -> Tensor
)";

class DriftTest : public testing::Test {
 protected:
  OpDrift of(const char* op) const { return compare_op(op, before_, after_); }
  TempDir dir_;
  Catalog before_ = small(dir_, "torch-1.0", kBefore), after_ = small(dir_, "torch-1.1", kAfter);
};

TEST_F(DriftTest, WhatIsTheSameIsSaidToBe) { EXPECT_THAT(of("all").changes, IsEmpty()); }

TEST_F(DriftTest, ASchemaThatChanged) {
  EXPECT_THAT(of("tril").changes, ElementsAre(OpChange::Schema));
  EXPECT_FALSE(of("tril").same_signature);
  EXPECT_THAT(of("_cdist_backward").changes, ElementsAre(OpChange::Schema));
  EXPECT_TRUE(of("_cdist_backward").same_signature);
}

TEST_F(DriftTest, WhatIsGone) {
  EXPECT_THAT(of("gone").changes, ElementsAre(OpChange::Removed));
  EXPECT_EQ(of("gone").replacement, nullptr);
  ASSERT_NE(of("qr").replacement, nullptr);
  EXPECT_EQ(of("qr").replacement->name, "linalg_qr");
  EXPECT_EQ(of("all.dimname").replacement, nullptr);  // `all` was there before, and takes no dim
}

TEST_F(DriftTest, ClassAndDefault) {
  EXPECT_THAT(of("mm_v2").changes, ElementsAre(OpChange::BecameStructured, OpChange::DefaultGained));
  EXPECT_THAT(of("fuse").changes, ElementsAre(OpChange::BecameComposite));
  EXPECT_THAT(compare_op("fuse", after_, before_).changes, ElementsAre(OpChange::NoLongerComposite));
  EXPECT_THAT(compare_op("mm_v2", after_, before_).changes,
              ElementsAre(OpChange::NoLongerStructured, OpChange::DefaultLost));
}

TEST_F(DriftTest, TheWholeOfTwoReleasesIsWhatIsWritten) {
  const auto diff = diff_catalogs(before_, after_);
  const auto names = [](const std::vector<const Op*>& ops) {
    std::vector<std::string> result;
    for (const auto* op : ops) result.push_back(op->name);
    return result;
  };
  EXPECT_THAT(names(diff.added), ElementsAre("linalg_qr", "mm_v2.out"));
  EXPECT_THAT(names(diff.removed), ElementsAre("all.dimname", "gone", "qr"));  // not what `autogen` announced
  ASSERT_EQ(diff.changed.size(), 3U);
  EXPECT_EQ(diff.changed[0].first->name, "_cdist_backward");
  EXPECT_EQ(diff.changed[2].second->schema,
            "aten::tril.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)");
}

/// Both texts with their marks below, and the arguments.
std::string shown(const char* before, const char* after) {
  const auto diff = diff_schemas(before, after);
  std::string text =
      fmt::format("{}\n{}\n{}\n{}\n", before, mark_line(diff.before_marks), after, mark_line(diff.after_marks));
  for (const auto& change : diff.changes)
    text += fmt::format("{}: {} | {}\n", change.name, change.before, change.after);
  return text;
}

TEST(SchemaDiff, MarksTheArgumentThatDiffers) {
  EXPECT_EQ(shown("f(Tensor self, int n=0) -> Tensor", "f(Tensor self, SymInt n=0) -> Tensor"),
            "f(Tensor self, int n=0) -> Tensor\n"
            "               ^^^^^^^\n"
            "f(Tensor self, SymInt n=0) -> Tensor\n"
            "               ^^^^^^^^^^\n"
            "n: int n=0 | SymInt n=0\n");
}

TEST(SchemaDiff, ARenamedArgumentStandsInItsPlace) {
  EXPECT_EQ(shown("f(Tensor grad, Tensor x) -> Tensor", "f(Tensor grad_output, Tensor x) -> Tensor"),
            "f(Tensor grad, Tensor x) -> Tensor\n"
            "  ^^^^^^^^^^^\n"
            "f(Tensor grad_output, Tensor x) -> Tensor\n"
            "  ^^^^^^^^^^^^^^^^^^\n"
            "grad: Tensor grad | Tensor grad_output\n");
}

TEST(SchemaDiff, AddedAndRemovedArgumentsAndReturns) {
  EXPECT_EQ(shown("f(Tensor x, *, float s) -> Tensor", "f(Tensor x, *, float s, int[2]? w=None) -> (Tensor, Tensor)"),
            "f(Tensor x, *, float s) -> Tensor\n"
            "                           ^^^^^^\n"
            "f(Tensor x, *, float s, int[2]? w=None) -> (Tensor, Tensor)\n"
            "                        ^^^^^^^^^^^^^^     ^^^^^^^^^^^^^^^^\n"
            "->: Tensor | (Tensor, Tensor)\n"
            "w:  | int[2]? w=None\n");
  EXPECT_EQ(diff_schemas("f(Tensor x, bool b) -> ()", "f(Tensor x) -> ()").changes.at(0).after, "");
  EXPECT_TRUE(diff_schemas("f(Tensor x) -> ()", "f(Tensor x) -> ()").changes.empty());
}

TEST(SchemaDiff, AKeywordThatBecamePositional) {
  const auto diff = diff_schemas("f(Tensor x, *, bool b) -> ()", "f(Tensor x, bool b) -> ()");
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes[0].name, "*");
}

}  // namespace
}  // namespace openreg_gen
