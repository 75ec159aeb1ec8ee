#include "base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace openreg_gen {
namespace {

constexpr std::string_view kOps[] = {"add.Tensor", "add.Scalar", "abs.out", "relu", "sub.Tensor"};

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", "", 3), 0);
  EXPECT_EQ(edit_distance("abc", "abd", 3), 1);
  EXPECT_EQ(edit_distance("abc", "acb", 3), 1);  // neighbours swapped
  EXPECT_EQ(edit_distance("abc", "xabc", 3), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting", 5), 3);
}

TEST(EditDistance, GivesUpAboveTheLimit) {
  EXPECT_EQ(edit_distance("abcdef", "uvwxyz", 2), 3);
  EXPECT_EQ(edit_distance("a", "abcdefgh", 2), 3);
}

TEST(Closest, FindsTheNearest) {
  EXPECT_EQ(closest("add.Tensro", kOps), "add.Tensor");
  EXPECT_EQ(closest("RELU", kOps), "relu");
  EXPECT_EQ(closest("zzzzzz", kOps), "");
  EXPECT_EQ(closest("", kOps), "");
  EXPECT_EQ(closest(std::string(100000, 'a'), kOps), "");
}

TEST(DidYouMean, ListsAShortChoice) {
  constexpr std::string_view words[] = {"none", "cpu"};
  EXPECT_EQ(did_you_mean("cqu", words), "did you mean 'cpu'?");
  EXPECT_EQ(did_you_mean("something", words), "one of: none, cpu");
  const std::vector<std::string_view> many(100, "longer");
  EXPECT_EQ(did_you_mean("zz", many), "");
}

}  // namespace
}  // namespace openreg_gen
