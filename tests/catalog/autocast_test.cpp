#include "catalog/build.h"
#include "support.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace openreg_gen {
namespace {

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

TEST(Autocast, RulesAreReadFromTheHeader) {
  const auto rules = read_autocast_rules(kHeader);
  ASSERT_EQ(rules.size(), 8U);
  EXPECT_EQ(rules[0].op, "_convolution.deprecated");
  EXPECT_EQ(rules[0].policy, "lower_precision_fp");
  EXPECT_EQ(rules[3].op, "pow.Scalar");
  EXPECT_EQ(rules[5].op, "norm.Scalar");
  EXPECT_EQ(rules[5].arguments,
            "ADD_NS(norm), \"norm.Scalar\", Tensor(const Tensor&, const Scalar&), Tensor(const Tensor&, ScalarType), "
            "fp32_append_dtype");
  EXPECT_EQ(rules[7].policy, kAutocastBanned);
}

TEST(Autocast, AHeaderThatLacksAListHasNone) {
  EXPECT_TRUE(read_autocast_rules("").empty());
  EXPECT_TRUE(read_autocast_rules(kHeader.substr(0, kHeader.find("#define AT_FORALL_PROMOTE"))).empty());
}

TEST(Autocast, AllRulesOfTheInstalledHeaderAreThere) {
  const std::string header = read_file(installed().torch_dir() / "include/ATen/autocast_mode.h");
  const std::pair<const char*, const char*> lists[] = {{"AT_FORALL_LOWER_PRECISION_FP", "lower_precision_fp"},
                                                       {"AT_FORALL_FP32", "fp32"},
                                                       {"AT_FORALL_FP32_SET_OPT_DTYPE", "fp32_set_opt_dtype"},
                                                       {"AT_FORALL_PROMOTE", "promote"}};
  std::set<std::pair<std::string, std::string>> expected = {{"norm.Scalar", "fp32_append_dtype"},
                                                            {"norm.ScalarOpt_dim", "fp32_append_dtype"},
                                                            {"binary_cross_entropy", "banned"}};
  for (const auto& [macro, policy] : lists) {
    const auto start = header.find("#define " + std::string(macro) + "(_)");
    ASSERT_NE(start, std::string::npos) << macro;
    const std::string body = header.substr(start, header.find("\n\n", start) - start);
    const std::regex entry(R"(\s_\((\w+)(?:, (\w+))?\))");
    for (std::sregex_iterator i(body.begin(), body.end(), entry), end; i != end; ++i) {
      expected.emplace((*i)[1].str() + ((*i)[2].matched ? "." + (*i)[2].str() : ""), policy);
    }
  }
  std::set<std::pair<std::string, std::string>> found;
  for (const AutocastRule& rule : installed().autocast) {
    found.emplace(rule.op, rule.policy);
    EXPECT_NE(installed().find(rule.op), nullptr) << rule.op;
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace openreg_gen
