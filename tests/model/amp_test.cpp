#include "model/amp.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using nlohmann::json;

constexpr std::string_view kHeader = R"(
#define AT_FORALL_LOWER_PRECISION_FP(_)  \
  _(_convolution, deprecated)            \
  _(mm)

#define AT_FORALL_FP32(_) \
  _(exp)                  \
  _(pow, Scalar)

#define AT_FORALL_FP32_SET_OPT_DTYPE(_) \
  _(prod)

#define AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(_) \
  _(ADD_NS(norm),                                   \
    "norm.Scalar",                                  \
    Tensor(const Tensor&, const Scalar&),           \
    Tensor(                                         \
        const Tensor&,                              \
        ScalarType),                                \
    fp32_append_dtype)

#define AT_FORALL_PROMOTE(_) \
  _(dot)
)";

TEST(Amp, ListsAreReadFromTheHeader) {
  const auto policies = read_amp_policies(kHeader);
  ASSERT_EQ(policies.size(), 5U);
  EXPECT_EQ(policies[0].rules.at(0).line, "KERNEL_PRIVATEUSEONE(_convolution, deprecated, lower_precision_fp)");
  EXPECT_EQ(policies[0].rules.at(0).op, "_convolution.deprecated");
  EXPECT_EQ(policies[1].rules.at(1).op, "pow.Scalar");
  EXPECT_EQ(policies[3].rules.at(0).op, "norm.Scalar");
  EXPECT_EQ(policies[3].rules.at(0).line,
            "KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE(ADD_NS(norm), \"norm.Scalar\", "
            "Tensor(const Tensor&, const Scalar&), Tensor(const Tensor&, ScalarType), fp32_append_dtype)");
}

TEST(Amp, AHeaderWithoutListsIsAFailureOfTheEnvironment) {
  try {
    read_amp_policies("");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("AT_FORALL_LOWER_PRECISION_FP"), std::string::npos);
  }
}

TEST(Amp, PresetNoneHasOnlyWhatIsAdded) {
  Spec spec;
  spec.amp.preset.value = "none";
  spec.amp.add["fp32"] = {{"logsumexp", {}}};
  const json amp = Fields::json_of(amp_context(spec, Catalog{}));
  ASSERT_EQ(amp["policies"].size(), 1U);
  EXPECT_EQ(amp["policies"][0]["rules"][0]["line"], "KERNEL_PRIVATEUSEONE(logsumexp, fp32)");
}

}  // namespace
}  // namespace openreg_gen
