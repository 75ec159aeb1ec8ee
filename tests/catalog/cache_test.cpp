#include "catalog/build.h"
#include "system/cache.h"
#include "support.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace openreg_gen {
namespace {

bool same(const Op& a, const Op& b) {
  const auto record = [](const Op& op) {
    auto arguments = nlohmann::json::array();
    for (const auto& x : op.arguments) {
      arguments.push_back({x.type, x.name, x.schema_type, x.default_value, x.kwarg_only, x.is_out});
    }
    return nlohmann::json{op.name,
                          op.base,
                          op.overload,
                          op.schema,
                          op.returns,
                          arguments,
                          op.op_class,
                          op.has_default,
                          op.has_dispatch,
                          op.structured,
                          op.structured_delegate,
                          op.structured_inherits,
                          op.is_view,
                          op.composite_implicit,
                          op.kernels,
                          op.tags,
                          op.variants,
                          op.kind,
                          op.meta_struct,
                          op.precomputed,
                          op.schema_returns,
                          op.python_module,
                          op.method,
                          op.device_guard,
                          op.device_check};
  };
  return record(a) == record(b);
}

TEST(Archive, GivesBackEveryField) {
  const auto back = from_archive(to_archive(built()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->identity(), built().identity());
  EXPECT_EQ(back->torch_version(), built().torch_version());
  EXPECT_EQ(back->torch_dir(), built().torch_dir());
  ASSERT_FALSE(built().autocast.empty());
  ASSERT_EQ(back->autocast.size(), built().autocast.size());
  EXPECT_EQ(back->autocast.back().op, built().autocast.back().op);
  EXPECT_EQ(back->autocast.front().arguments, built().autocast.front().arguments);
  ASSERT_EQ(back->all().size(), built().all().size());
  for (std::size_t i = 0; i < back->all().size(); ++i) EXPECT_TRUE(same(back->all()[i], built().all()[i]));
}

TEST(Archive, RefusesBytesThatAreNotWhole) {
  Catalog small;
  small.version_ = "1";
  small.ops.resize(2);
  small.ops[0].name = "add.Tensor";
  const auto bytes = to_archive(small);
  ASSERT_TRUE(from_archive(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(from_archive(bytes.substr(0, size))) << size;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto harmed = bytes;
    harmed[i] = '\xff';
    from_archive(harmed);  // may be read as another catalogue, without a crash
  }
  EXPECT_FALSE(from_archive(std::string(bytes.size(), '\0'))) << "a disk that failed";
  EXPECT_FALSE(from_archive(bytes + "x"));
}

class CacheTest : public testing::Test {
 protected:
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> result;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path() / "openreg-gen", error))
      result.push_back(entry);
    return result;
  }
  /// A folder of declarations with one operator.
  std::filesystem::path torch(const std::string& func) const {
    dir_.write("torch-1.0/torchgen/packaged/ATen/native/native_functions.yaml", "- func: " + func + "\n");
    dir_.write("torch-1.0/torchgen/packaged/ATen/native/tags.yaml", "- tag: core\n  desc: x\n");
    return dir_.path() / "torch-1.0";
  }
  TempDir dir_;
  ScopedEnv xdg_{"XDG_CACHE_HOME", dir_.path()};
  ScopedEnv on_{"OPENREG_GEN_NO_CACHE", nullptr};
};

TEST_F(CacheTest, KeepsACatalogueAndNoticesAChange) {
  const auto folder = torch("f(Tensor self) -> Tensor");
  EXPECT_NE(load_catalog(folder).find("f"), nullptr);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_NE(load_catalog(folder).find("f"), nullptr);
  EXPECT_EQ(files().size(), 1U);
  torch("longer(Tensor self) -> Tensor");
  const auto changed = load_catalog(folder);
  EXPECT_NE(changed.find("longer"), nullptr);
  EXPECT_EQ(changed.find("f"), nullptr);
}

TEST_F(CacheTest, ReadsTheCacheAndNotTheFiles) {
  const auto folder = torch("f(Tensor self) -> Tensor");
  load_catalog(folder);
  const auto files_dir = folder / "torchgen/packaged/ATen/native";
  const auto yaml_time = std::filesystem::last_write_time(files_dir / "native_functions.yaml");
  const auto tags_time = std::filesystem::last_write_time(files_dir / "tags.yaml");
  torch("g(Tensor self) -> Tensor");  // as long as before
  std::filesystem::last_write_time(files_dir / "native_functions.yaml", yaml_time);
  std::filesystem::last_write_time(files_dir / "tags.yaml", tags_time);
  EXPECT_NE(load_catalog(folder).find("f"), nullptr);
}

TEST_F(CacheTest, DoesWithoutAHarmedOrUnwritableCache) {
  const auto folder = torch("f(Tensor self) -> Tensor");
  load_catalog(folder);
  std::ofstream(files().at(0), std::ios::trunc) << "garbage";
  EXPECT_NE(load_catalog(folder).find("f"), nullptr);
  const ScopedEnv file("XDG_CACHE_HOME", dir_.write("a-file", ""));
  EXPECT_NE(load_catalog(folder).find("f"), nullptr);
}

TEST_F(CacheTest, CanBeTurnedOff) {
  const ScopedEnv off("OPENREG_GEN_NO_CACHE", "1");
  load_catalog(torch("f(Tensor self) -> Tensor"));
  EXPECT_TRUE(files().empty());
}

TEST_F(CacheTest, FallsBackToTheHomeFolder) {
  const ScopedEnv relative("XDG_CACHE_HOME", "not/absolute");
  const ScopedEnv home("HOME", "/home/someone");
  EXPECT_EQ(cache_dir(), "/home/someone/.cache/openreg-gen");
}

}  // namespace
}  // namespace openreg_gen
