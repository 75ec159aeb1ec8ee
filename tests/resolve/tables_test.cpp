// The tables that were derived from an installed PyTorch, against the one that is installed.
#include "catalog/catalog.h"
#include "catalog/stubs.h"
#include "base/text.h"
#include "spec/keys.h"
#include "spec/minimal_ops.h"
#include "spec/rules.h"
#include "strategy/strategy.h"
#include "support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
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

TEST(MinimalOps, EachHasItsKernel) {
  const fs::path native = fs::path(OPENREG_GEN_SOURCE_DIR) / "generated_example/csrc/aten/native";
  const std::string kernels = read_file(native / "Kernels.h") + read_file(native / "Attention.h");
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
      EXPECT_FALSE(words_of(key, vocabulary()).empty()) << path;
    }
    if (!key.shorthand.empty()) {
      EXPECT_NE(find_key(path + "." + std::string(key.shorthand)), nullptr) << path;
    }
    EXPECT_TRUE(about(key, vocabulary()).ends_with('.')) << path;
  }
}

}  // namespace
}  // namespace openreg_gen
