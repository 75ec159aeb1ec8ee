// The tables that were derived from an installed PyTorch, against the one that is installed.
#include "catalog/catalog.h"
#include "catalog/stubs.h"
#include "base/text.h"
#include "spec/amp_preset.h"
#include "spec/keys.h"
#include "spec/minimal_ops.h"
#include "spec/rules.h"
#include "support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;

TEST(Stubs, AreDeclaredAndServeCpuAndCudaAlike) {
  EXPECT_TRUE(std::ranges::is_sorted(stub_ops()));
  std::set<std::string_view> stubs;
  for (const auto name : stub_ops()) {
    const Op* op = installed().find(name);
    ASSERT_NE(op, nullptr) << name;
    const Stub& info = *find_stub(name);
    const bool choice = name == "_fused_sdp_choice";  // each device's own
    EXPECT_TRUE(choice || op->kernels.at("CPU") == op->kernels.at("CUDA")) << name;
    EXPECT_TRUE(stubs.insert(info.name).second) << info.name << " serves two operators";
    const std::string header = read_file(installed().torch_dir() / "include" / info.header());
    const std::string declared = "DECLARE_DISPATCH(" + std::string(info.fn_type) + ", " + std::string(info.name) + ")";
    EXPECT_NE(header.find(declared), std::string::npos) << declared << " is not in " << info.header();
  }
  EXPECT_EQ(find_stub("abs.out")->name, "abs_stub");
  EXPECT_EQ(find_stub("mm.out"), nullptr);
}

TEST(AmpPreset, IsThatOfTheInstalledHeader) {
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
  for (const AmpPresetRule& rule : amp_preset()) {
    found.emplace(rule.op, rule.policy);
    EXPECT_NE(installed().find(rule.op), nullptr) << rule.op;
  }
  EXPECT_EQ(found, expected);
}

TEST(MinimalOps, EachHasItsKernel) {
  const fs::path native = fs::path(OPENREG_GEN_SOURCE_DIR) / "templates/csrc/aten/native";
  const std::string kernels = read_file(native / "Kernels.h.j2") + read_file(native / "Attention.h.j2");
  EXPECT_TRUE(std::ranges::is_sorted(minimal_op_names()));
  for (const auto op : minimal_op_names()) {
    EXPECT_NE(installed().find(op), nullptr) << op;
    std::string function(op);
    std::ranges::replace(function, '.', '_');
    EXPECT_NE(kernels.find(" " + function + "("), std::string::npos) << op;
  }
}

TEST(ReservedNames, AreSortedAndHoldTheObvious) {
  for (const auto list : {kTorchNames, kCNames, kHeaderNames, kStdlibModules, kPythonKeywords})
    EXPECT_TRUE(std::ranges::is_sorted(words_of(list)));
  for (const auto name : {"float", "ones", "tensor", "nn", "optim", "train", "half"})
    EXPECT_TRUE(has_word(kTorchNames, name)) << name;
  for (const auto name : {"malloc", "time", "link"}) EXPECT_TRUE(has_word(kCNames, name)) << name;
}

TEST(Keys, EachContainerHasItsRows) {
  for (const Key& key : all_keys()) {
    const std::string path(key.path);
    if (key.type == KeyType::List) {
      EXPECT_NE(find_key(path + "[]"), nullptr) << path;
    }
    if (key.type == KeyType::Table) {
      EXPECT_NE(find_key(path + ".*"), nullptr) << path;
    }
    if (key.type == KeyType::Map) {
      EXPECT_FALSE(child_keys(path).empty()) << path;
    }
    if (key.type == KeyType::Word) {
      EXPECT_FALSE(key.values.empty()) << path;
    }
    if (!key.shorthand.empty()) {
      EXPECT_NE(find_key(path + "." + std::string(key.shorthand)), nullptr) << path;
    }
    EXPECT_TRUE(key.description.ends_with('.')) << path;
  }
}

}  // namespace
}  // namespace openreg_gen
