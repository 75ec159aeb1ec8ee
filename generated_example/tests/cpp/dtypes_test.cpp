// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/alias/Dtypes.h"

namespace openreg::test {

namespace {

TEST(DtypesTest, NumbersAtTheEndsOfTheIntegers) {
  using native::detail::fits;
  const c10::Scalar least(std::numeric_limits<int64_t>::min()), most(std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(fits(least, at::kLong));
  EXPECT_TRUE(fits(least, at::kDouble));
  EXPECT_FALSE(fits(least, at::kChar));
  EXPECT_FALSE(fits(least, at::kInt));
  EXPECT_TRUE(fits(most, at::kUInt64));
  EXPECT_TRUE(fits(most, at::kFloat));
  EXPECT_FALSE(fits(most, at::kLong));
  EXPECT_TRUE(fits(c10::Scalar(-127), at::kByte));
}

TEST(DtypesTest, KindsOfCallsDifferWhereAnythingDoes) {
  using native::detail::CallKind;
  const auto kind = [](std::initializer_list<const char*> names) {
    CallKind out;
    for (const char* name : names) {
      out.add(std::string_view(name));
    }
    return out;
  };
  EXPECT_EQ(kind({"tanh"}), kind({"tanh"}));
  EXPECT_FALSE(kind({"tanh"}) == kind({"none"}));
  EXPECT_FALSE(kind({"ab", "c"}) == kind({"a", "bc"}));
  EXPECT_TRUE(kind({"tanh"}).complete());
  const std::string longer(40, 'x');
  EXPECT_FALSE(kind({longer.c_str()}).complete());  // not kept whole, so never taken for a known one
}

}  // namespace

}  // namespace openreg::test
