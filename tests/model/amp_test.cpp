#include "model/amp.h"

#include "diag/failure.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

using nlohmann::json;

TEST(Amp, TheCatalogsRulesBecomeMacroCalls) {
  Catalog catalog;
  catalog.autocast = {{"lower_precision_fp", "_convolution.deprecated", "_convolution, deprecated"},
                      {"fp32_append_dtype", "norm.Scalar", "ADD_NS(norm), \"norm.Scalar\", fp32_append_dtype"},
                      {"banned", "nope", ""}};
  const json amp = Fields::json_of(amp_context(Spec{}, catalog));
  ASSERT_EQ(amp["policies"].size(), 3U);
  EXPECT_EQ(amp["policies"][0]["rules"][0]["line"],
            "KERNEL_PRIVATEUSEONE(_convolution, deprecated, lower_precision_fp)");
  EXPECT_EQ(amp["policies"][1]["rules"][0]["line"],
            "KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE(ADD_NS(norm), \"norm.Scalar\", fp32_append_dtype)");
  EXPECT_EQ(amp["policies"][2]["rules"][0]["line"], "m.impl(\"nope\", TORCH_FN(nope_banned));");
  EXPECT_EQ(amp["bans"], true);
}

TEST(Amp, RulesAreMovedAndTakenOut) {
  Catalog catalog;
  catalog.autocast = {{"fp32", "pow.Scalar", "pow, Scalar"}, {"fp32", "exp", "exp"}, {"promote", "dot", "dot"}};
  Spec spec;
  spec.amp.remove = {{"pow", {}}};
  spec.amp.add["promote"] = {{"aten::exp", {}}};
  const json amp = Fields::json_of(amp_context(spec, catalog));
  ASSERT_EQ(amp["policies"].size(), 1U);
  EXPECT_EQ(amp["policies"][0]["rules"][1]["line"], "KERNEL_PRIVATEUSEONE(exp, promote)");
}

TEST(Amp, ACatalogWithoutRulesIsAFailureOfTheEnvironment) {
  try {
    amp_context(Spec{}, Catalog{});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), "E0403");
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
