#include "catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Op op(std::string name, bool has_default, std::vector<std::string> variants, std::string delegate = "") {
  Op made;
  made.name = std::move(name);
  made.has_default = has_default;
  made.variants = std::move(variants);
  made.structured_delegate = std::move(delegate);
  return made;
}

TEST(ServedForms, OfAStructuredOutAreItsDelegates) {
  Catalog catalog;
  catalog.ops = {op("sub.Tensor", true, {"sub.out", "sub_.Tensor"}, "sub.out"),
                 op("sub.out", false, {"sub.Tensor", "sub_.Tensor"}),
                 op("sub_.Tensor", true, {"sub.Tensor", "sub.out"}, "sub.out")};
  EXPECT_THAT(served_forms(catalog.ops[1], catalog), ElementsAre("sub.Tensor", "sub_.Tensor"));
  EXPECT_THAT(served_forms(catalog.ops[0], catalog), IsEmpty());
}

TEST(ServedForms, AreThoseWithACompositeKernel) {
  Catalog catalog;
  catalog.ops = {op("abs", true, {"abs.out"}), op("abs.out", false, {"abs"}), op("relu", false, {"relu_"}),
                 op("relu_", false, {"relu"})};
  EXPECT_THAT(served_forms(catalog.ops[1], catalog), ElementsAre("abs"));
  EXPECT_THAT(served_forms(catalog.ops[2], catalog), IsEmpty());
}

}  // namespace
}  // namespace openreg_gen
