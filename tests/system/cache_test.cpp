// What is written to the cache is there whole, and nothing else is touched.
#include "system/cache.h"

#include "files.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace openreg_gen {
namespace {

class Cache : public testing::Test {
 protected:
  std::filesystem::path folder() const { return dir_.path() / "openreg-gen"; }
  TempDir dir_;
  ScopedEnv cache_{"XDG_CACHE_HOME", dir_.path()}, on_{"OPENREG_GEN_NO_CACHE", nullptr};
};

TEST_F(Cache, GivesBackWhatWasWritten) {
  EXPECT_FALSE(read_cache("a.txt"));
  const std::string bytes("x\0y", 3);
  write_cache("a.txt", "old");
  write_cache("a.txt", bytes);
  EXPECT_EQ(read_cache("a.txt"), bytes);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 1);
}

// Others may write to a cache that is shared: a name that they can foresee may lead anywhere.
TEST_F(Cache, WritesThroughNoLink) {
  const auto precious = dir_.write("precious", "mine");
  std::filesystem::create_directories(folder());
  for (const char* name : {"a.txt", "a.txt.tmp"}) std::filesystem::create_symlink(precious, folder() / name);
  std::filesystem::create_symlink(precious, folder() / ("a.txt." + std::to_string(getpid()) + ".tmp"));
  write_cache("a.txt", "cached");
  EXPECT_EQ(read_cache("a.txt"), "cached");
  EXPECT_EQ(read_file(precious), "mine");
}

TEST_F(Cache, AFolderThatCannotBeWrittenIsNoError) {
  dir_.write("openreg-gen", "a file in the folder's place");
  write_cache("a.txt", "x");
  EXPECT_FALSE(read_cache("a.txt"));
}

}  // namespace
}  // namespace openreg_gen
