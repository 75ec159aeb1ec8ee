// What holds for all operators of the installed PyTorch.
#include "model/coverage.h"
#include "support.h"

#include <gtest/gtest.h>

#include <set>

namespace openreg_gen {
namespace {

TEST(Installed, EachOperatorHasOnePlace) {
  Diagnostics diagnostics;
  const ResolvedSpec resolved =
      resolve(parse_spec_text("backend: {name: dev}\n", "spec.yaml", diagnostics), installed(), diagnostics);
  const CoverageTable all = cover(resolved);
  EXPECT_EQ(all.rows.size(), 3101U);
  EXPECT_EQ(all.totals.all(), 3101U);
  for (const auto& row : all.rows) EXPECT_FALSE(row.how.empty()) << row.op->name;
}

TEST(Installed, FamiliesAreAllUsedAndFewOperatorsAreLeftOver) {
  std::set<std::string_view> used;
  std::size_t other = 0;
  for (const Op& op : installed().all()) {
    used.insert(family_of(op, installed()));
    other += family_of(op, installed()) == "other";
  }
  EXPECT_EQ(used.size(), all_families().size());
  for (const auto family : all_families()) EXPECT_TRUE(used.contains(family)) << family;
  EXPECT_LT(other, 150U);
}

}  // namespace
}  // namespace openreg_gen
