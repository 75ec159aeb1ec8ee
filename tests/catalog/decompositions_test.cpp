#include "catalog/decompositions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace openreg_gen {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Op named(const std::string& name) {
  Op op;
  op.name = name;
  op.composite_implicit = true;
  return op;
}

const Decompositions kTrace{"2.0", {{"a", {"b", "c"}}, {"b", {"a", "leaf"}}, {"top", {"a"}}, {"flat", {"c"}}}};

TEST(Decompositions, CompositesAreFollowedToTheirEnds) {
  const OpTrace a = find_traced(named("a"), {}, kTrace);
  EXPECT_TRUE(a.composite);
  EXPECT_THAT(a.into, ElementsAre("b", "c"));
  EXPECT_THAT(a.ends_in, ElementsAre("c", "leaf"));
  EXPECT_THAT(find_traced(named("flat"), {}, kTrace).ends_in, IsEmpty());
  EXPECT_THAT(find_traced(named("new"), {}, kTrace).into, IsEmpty());
}

TEST(Decompositions, DirectCallersComeFirst) {
  Op leaf = named("leaf");
  leaf.composite_implicit = false;
  const OpTrace traced = find_traced(leaf, {}, kTrace);
  EXPECT_FALSE(traced.composite);
  EXPECT_THAT(traced.reached_from, ElementsAre("b", "a", "top"));
}

TEST(Decompositions, AStructuredKernelIsReachedThroughItsForms) {
  Op out = named("c.out"), form = named("c");
  form.structured_delegate = "c.out";
  out.variants = {"c"};
  Catalog catalog;
  catalog.ops = {form, out};
  EXPECT_THAT(find_traced(out, catalog, kTrace).reached_from, ElementsAre("a", "flat", "b", "top"));
}

TEST(Decompositions, AFileThatIsNone) {
  const std::string path = ::testing::TempDir() + "/decompositions.json";
  EXPECT_EQ(read_decompositions(path + ".missing").torch, "");
  for (const char* text : {"", "[]", "{\"torch\": \"2.0\"}", "{\"torch\": 2, \"ops\": {}}"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(read_decompositions(path).torch, "") << text;
  }
  std::ofstream(path) << R"({"torch": "2.0", "ops": {"a": ["b"]}})";
  EXPECT_THAT(read_decompositions(path).ops.at("a"), ElementsAre("b"));
}

}  // namespace
}  // namespace openreg_gen
