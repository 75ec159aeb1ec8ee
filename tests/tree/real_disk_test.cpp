#include "tree/disk.h"

#include "diag/failure.h"
#include "tree/paths.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;

class RealDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "openreg_gen_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = fs::canonical(pattern) / "tree";
    fs::create_directories(root);
  }
  void TearDown() override { fs::remove_all(root.parent_path()); }
  fs::path root;
};

TEST_F(RealDiskTest, WritesReadsRenamesAndPrunes) {
  RealDisk disk(root);
  disk.write("a/b/c.txt", std::string("x\0y\n", 4));
  EXPECT_EQ(disk.read("a/b/c.txt"), std::string("x\0y\n", 4));
  EXPECT_EQ(disk.kind("a"), FileKind::Folder);
  EXPECT_EQ(disk.kind("a/b/c.txt/d"), FileKind::None);
  disk.rename("a/b/c.txt", "d/e.txt");
  disk.prune("a/b");
  EXPECT_EQ(disk.kind("a"), FileKind::None);
  EXPECT_EQ(disk.list(""), std::vector<std::string>{"d"});
  disk.remove("d/e.txt");
  disk.prune("d");
  EXPECT_TRUE(fs::exists(root));
  EXPECT_TRUE(fs::is_empty(root));
}

TEST_F(RealDiskTest, NeverWritesOverAFile) {
  RealDisk disk(root);
  disk.write("a", "1");
  EXPECT_THROW(disk.write("a", "2"), Failure);
  EXPECT_EQ(disk.read("a"), "1");
}

TEST_F(RealDiskTest, ScriptsAreExecutable) {
  RealDisk disk(root);
  disk.write("run.sh", "#!/bin/sh\n");
  disk.write("note", "text\n");
  EXPECT_EQ(access((root / "run.sh").c_str(), X_OK), 0);
  EXPECT_EQ(fs::status(root / "note").permissions() & fs::perms::owner_exec, fs::perms::none);
}

TEST_F(RealDiskTest, ANewTextGetsThePermissionsOfTheOld) {
  RealDisk disk(root);
  disk.write("a", "1");
  fs::permissions(root / "a", fs::perms::owner_all);
  disk.write("b", "2", "a");
  EXPECT_EQ(fs::status(root / "b").permissions(), fs::perms::owner_all);
}

TEST_F(RealDiskTest, TwoFilesChangePlacesAndKeepTheirTimes) {
  for (bool atomic : {true, false}) {
    RealDisk disk(root);
    disk.atomic_exchange = atomic;
    disk.write("a", "1");
    disk.write("s/b", "2");
    const auto then = fs::last_write_time(root / "a") - std::chrono::hours(5);
    fs::last_write_time(root / "a", then);
    disk.exchange("s/b", "a");
    EXPECT_EQ(disk.read("a"), "2");
    EXPECT_EQ(disk.read("s/b"), "1");
    EXPECT_EQ(fs::last_write_time(root / "s/b"), then);
    EXPECT_EQ(disk.list("s"), std::vector<std::string>{"b"});
    disk.remove("a");
    disk.remove("s/b");
  }
}

// Where two names cannot be exchanged at once, a kill leaves a third: the swap is then done, or not begun.
TEST_F(RealDiskTest, AHalfDoneSwapIsSettled) {
  RealDisk disk(root);
  disk.write("to", "old");
  disk.write("slot", "new");
  fs::create_hard_link(root / "to", root / "slot.swap");
  disk.settle_swap("slot");
  EXPECT_EQ(disk.read("to") + disk.read("slot"), "oldnew");
  EXPECT_EQ(disk.kind("slot.swap"), FileKind::None);

  fs::create_hard_link(root / "to", root / "slot.swap");
  fs::rename(root / "slot", root / "to");
  disk.settle_swap("slot");
  EXPECT_EQ(disk.read("to") + disk.read("slot"), "newold");
  EXPECT_EQ(disk.kind("slot.swap"), FileKind::None);
}

TEST_F(RealDiskTest, ANewNameNeverReplaces) {
  for (bool atomic : {true, false}) {
    RealDisk disk(root);
    disk.atomic_exchange = atomic;
    disk.write("a", "1");
    disk.write("b", "2");
    EXPECT_THROW(disk.rename_new("a", "b"), Failure);
    EXPECT_EQ(disk.read("a") + disk.read("b"), "12");
    disk.rename_new("a", "c/d");
    EXPECT_EQ(disk.read("c/d"), "1");
    disk.remove("b");
    disk.remove("c/d");
  }
}

TEST_F(RealDiskTest, TellsWhatLeadsOut) {
  RealDisk disk(root);
  fs::create_directories(root.parent_path() / "elsewhere");
  fs::create_directories(root / "here");
  fs::create_directory_symlink(root.parent_path() / "elsewhere", root / "out");
  fs::create_directory_symlink("here", root / "in");
  EXPECT_TRUE(disk.inside(""));
  EXPECT_TRUE(disk.inside("in/x"));
  EXPECT_TRUE(disk.inside("new/x"));
  EXPECT_FALSE(disk.inside("out"));
  EXPECT_FALSE(disk.inside("out/x/y"));
  EXPECT_EQ(disk.kind("out"), FileKind::Symlink);
  // A sibling whose name begins alike is outside, too.
  fs::create_directories(root.parent_path() / "tree2");
  fs::create_directory_symlink(root.parent_path() / "tree2", root / "sibling");
  EXPECT_FALSE(disk.inside("sibling/x"));
}

TEST_F(RealDiskTest, OneRunAtATime) {
  RealDisk one(root), two(root);
  {
    const auto held = one.lock();
    EXPECT_TRUE(held);
    EXPECT_FALSE(two.lock());
    EXPECT_EQ(two.lock_holder(), getpid());
  }
  EXPECT_EQ(two.lock_holder(), 0);
  EXPECT_TRUE(two.lock());
  EXPECT_TRUE(fs::is_empty(root));
}

TEST(LockHolder, HasItsLockOnTheSameDevice) {
  const std::string locks =
      "1: POSIX  ADVISORY  WRITE 11 103:02:7 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 12 08:02:7 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 13 103:02:70 0 EOF\n"
      "4: FLOCK  ADVISORY  WRITE 14 103:02:7 0 EOF\n";
  EXPECT_EQ(lock_holder_in(locks, makedev(0x103, 2), 7), 14);
  EXPECT_EQ(lock_holder_in(locks, makedev(8, 2), 7), 12);
  EXPECT_EQ(lock_holder_in(locks, makedev(8, 1), 7), 0);
  EXPECT_EQ(lock_holder_in("", makedev(8, 2), 7), 0);
}

TEST_F(RealDiskTest, TheTreeIsFoundUpwards) {
  fs::create_directories(root / ".openreg-gen");
  fs::create_directories(root / "csrc/aten");
  std::ofstream(root / ".openreg-gen/manifest.json") << "{}";
  EXPECT_EQ(find_tree(root / "csrc/aten"), root);
  EXPECT_EQ(find_tree(root), root);
  try {
    find_tree(root.parent_path());
    FAIL() << "found a tree where none is";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), "E0502");
  }
  EXPECT_THROW(find_tree(root / "no/such"), Failure);
}

}  // namespace
}  // namespace openreg_gen
