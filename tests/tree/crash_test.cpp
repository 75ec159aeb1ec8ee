// Killed at any instant, and edited by its owner before the next run: no byte of an owner is lost, and the tree is the
// old one or the new one. Real files, a real process, a real SIGKILL.
#include "diag/failure.h"
#include "tree/plan.h"
#include "tree/journal.h"
#include "tree/paths.h"
#include "tree/undo.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sys/wait.h>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

constexpr int kNever = -1;

/// Dies before its n-th change; a write also half way through.
class DyingDisk final : public RealDisk {
 public:
  DyingDisk(const fs::path& root, int die_at) : RealDisk(root), left_(die_at) {}
  using Disk::write;
  void write(const std::string& path, std::string_view bytes, const std::string& like) override {
    step();
    if (left_ == 0) RealDisk::write(path, bytes.substr(0, bytes.size() / 2), like);
    step();
    RealDisk::write(path, bytes, like);
  }
  void rename(const std::string& from, const std::string& to) override { step(), RealDisk::rename(from, to); }
  void rename_new(const std::string& from, const std::string& to) override { step(), RealDisk::rename_new(from, to); }
  void exchange(const std::string& slot, const std::string& to) override { step(), RealDisk::exchange(slot, to); }
  void remove(const std::string& path) override { step(), RealDisk::remove(path); }
  void remove_all(const std::string& folder) override { step(), RealDisk::remove_all(folder); }
  void prune(const std::string& folder) override { step(), RealDisk::prune(folder); }
  void sync(const std::vector<std::string>&) override { step(); }  // what is killed is the process, not the machine

 private:
  void step() {
    if (left_-- == 0) kill(getpid(), SIGKILL);
  }
  int left_;
};

class Crash : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "openreg_gen_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    base = fs::canonical(pattern);
    root = base / "tree";
    fs::create_directories(root);
    DyingDisk disk(root, kNever);
    apply_plan(disk, plan(disk, nullptr, kOld));
    spit("b.md", slurp("b.md") + "owner-b\n");
    spit("k.cpp", "owner-k\n");
    spit("gone.md", slurp("gone.md") + "owner-gone\n");
    fs::copy(root, base / "start", fs::copy_options::recursive);
    DyingDisk again(root, kNever);
    apply_plan(again, planned(again, kNew));
    finished = read_all();
    started = read_all(base / "start");
  }
  void TearDown() override { fs::remove_all(base); }

  struct Render {
    std::string path, text;
    FileClass file_class;
  };
  inline static const std::vector<Render> kOld{{"a.cpp", "a\n", FileClass::Generated},
                                               {"b.md", "one\ntwo\nthree\nfour\nfive\n", FileClass::Shared},
                                               {"d/old.cpp", "old\n", FileClass::Generated},
                                               {"gone.md", "gone\n", FileClass::Shared},
                                               {"k.cpp", "k\n", FileClass::Owned}};
  inline static const std::vector<Render> kNew{{"a.cpp", "A\n", FileClass::Generated},
                                               {"b.md", "ONE\ntwo\nthree\nfour\nfive\n", FileClass::Shared},
                                               {"e/new.cpp", "new\n", FileClass::Generated},
                                               {"k.cpp", "K\n", FileClass::Owned}};

  static Plan plan(const Disk& disk, const Manifest* old, const std::vector<Render>& files) {
    std::vector<RenderedFile> renders;
    for (const Render& file : files) {
      Output output;
      output.path = file.path;
      output.template_name = file.path + ".j2";
      output.file_class = file.file_class;
      renders.push_back({output, file.text, std::nullopt});
    }
    return make_plan(disk, old, std::move(renders), {"0.1.0", "torch", "my.yaml", files[0].text, {}});
  }
  static Plan planned(const Disk& disk, const std::vector<Render>& files) {
    const Manifest manifest = parse_manifest(disk.read(std::string(kManifest)));
    return plan(disk, &manifest, files);
  }

  std::string slurp(const std::string& path) const {
    std::ifstream in(root / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void spit(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path, std::ios::binary) << text;
  }
  static Files read_all(const fs::path& where) {
    Files out;
    for (const auto& entry : fs::recursive_directory_iterator(where)) {
      const std::string path = fs::relative(entry.path(), where).string();
      if (!entry.is_regular_file() || path.starts_with(kUndo)) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      out[path] = {std::istreambuf_iterator<char>(in), {}};
    }
    return out;
  }
  Files read_all() const { return read_all(root); }
  void start() const {
    fs::remove_all(root);
    fs::copy(base / "start", root, fs::copy_options::recursive);
  }
  bool anywhere(const std::string& line) const {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      if (std::string(std::istreambuf_iterator<char>(in), {}).find(line) != std::string::npos) return true;
    }
    return false;
  }

  /// Runs `work` in a process of its own. True if it was killed.
  template <class Work>
  static bool killed(Work work, int after_microseconds = -1) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        work();
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    if (after_microseconds >= 0) {
      usleep(static_cast<useconds_t>(after_microseconds));
      kill(child, SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
  }
  bool killed_at(int change, bool atomic = true) const {
    return killed([&] {
      DyingDisk disk(root, change);
      disk.atomic_exchange = atomic;
      apply_plan(disk, planned(disk, kNew));
    });
  }

  fs::path base, root;
  Files started, finished;
};

TEST_F(Crash, AtEachChangeTheNextRunFinishesOrClears) {
  for (bool atomic : {true, false}) {
    int kills = 0;
    bool cleared = false, done = false;
    for (int change = 0;; ++change) {
      start();
      if (!killed_at(change, atomic)) break;
      ++kills;
      DyingDisk disk(root, kNever);
      recover(disk);
      const Files now = read_all();
      EXPECT_TRUE(now == started || now == finished) << "killed at change " << change;
      cleared |= now == started;
      done |= now == finished;
      EXPECT_FALSE(needs_recovery(disk));
      apply_plan(disk, planned(disk, kNew));
      EXPECT_EQ(read_all(), finished) << "killed at change " << change;
    }
    EXPECT_GT(kills, 25);
    EXPECT_TRUE(cleared && done);
  }
}

// The recovery is killed, too, at each of its changes.
TEST_F(Crash, TheRecoveryCanBeKilled) {
  int kills = 0;
  for (int change = 0;; ++change) {
    start();
    if (!killed_at(change)) break;
    for (int again = 0;; ++again) {
      const bool dead = killed([&] {
        DyingDisk disk(root, again);
        recover(disk);
      });
      if (!dead) break;
      ++kills;
    }
    DyingDisk disk(root, kNever);
    apply_plan(disk, planned(disk, kNew));
    EXPECT_EQ(read_all(), finished) << "killed at change " << change;
  }
  EXPECT_GT(kills, 20);
}

// After the kill and before the next run, the owner saves files: those in the tree as they find them, and new ones.
TEST_F(Crash, AnEditAfterTheKillIsNeverOverwritten) {
  const std::vector<std::string> edited{"a.cpp", "b.md", "k.cpp", "d/old.cpp", "e/new.cpp", "gone.md"};
  std::set<Recovery::Kind> kinds;
  for (int change = 0;; ++change) {
    start();
    if (!killed_at(change)) break;
    const std::string& victim = edited[static_cast<std::size_t>(change) % edited.size()];
    const std::string saved = slurp(victim) + "after the kill\n";
    spit(victim, saved);
    DyingDisk disk(root, kNever);
    kinds.insert(recover(disk).kind);
    EXPECT_EQ(slurp(victim), saved) << "killed at change " << change;
    EXPECT_FALSE(needs_recovery(disk));
    const Plan next = planned(disk, kNew);
    if (!next.refused()) apply_plan(disk, next);
    for (const char* line : {"after the kill", "owner-b", "owner-k", "owner-gone"}) {
      EXPECT_TRUE(anywhere(line)) << line << ", killed at change " << change;
    }
  }
  EXPECT_TRUE(kinds.contains(Recovery::Kind::TakenBack));
}

TEST_F(Crash, AtTwoHundredRandomTimes) {
  std::mt19937 random(20260101);
  int kills = 0;
  for (int round = 0; round < 200; ++round) {
    start();
    kills += killed(
        [&] {
          DyingDisk disk(root, kNever);
          apply_plan(disk, planned(disk, kNew));
        },
        static_cast<int>(random() % 4000));
    DyingDisk disk(root, kNever);
    recover(disk);
    const Files now = read_all();
    EXPECT_TRUE(now == started || now == finished) << "round " << round;
    apply_plan(disk, planned(disk, kNew));
    EXPECT_EQ(read_all(), finished) << "round " << round;
  }
  EXPECT_GT(kills, 20);
}

TEST_F(Crash, UndoCanBeKilledAtEachChange) {
  int kills = 0;
  for (int change = 0;; ++change) {
    start();
    DyingDisk disk(root, kNever);
    apply_plan(disk, planned(disk, kNew));
    const bool dead = killed([&] {
      DyingDisk dying(root, change);
      undo_last_run(dying);
    });
    recover(disk);
    const Files now = read_all();
    EXPECT_TRUE(now == started || now == finished) << "killed at change " << change;
    if (!dead) {
      EXPECT_EQ(now, started);
      break;
    }
    ++kills;
  }
  EXPECT_GT(kills, 15);
}

/// An editor saves a file in the very moment before, or after, it is swapped.
class EditedDisk final : public RealDisk {
 public:
  EditedDisk(const fs::path& root, std::string victim, bool before)
      : RealDisk(root), file_(root / victim), victim_(std::move(victim)), before_(before) {}
  void rename_new(const std::string& from, const std::string& to) override {
    save(from == victim_ || to == victim_, before_);
    RealDisk::rename_new(from, to);
    save(from == victim_ || to == victim_, !before_);
  }
  void exchange(const std::string& slot, const std::string& to) override {
    save(to == victim_, before_);
    RealDisk::exchange(slot, to);
    save(to == victim_, !before_);
  }
  static constexpr const char* kText = "saved meanwhile\n";

 private:
  void save(bool meant, bool now) {
    if (!meant || !now || saved_) return;
    saved_ = true;
    fs::create_directories(file_.parent_path());
    std::ofstream(file_, std::ios::binary) << kText;
  }
  fs::path file_;
  std::string victim_;
  bool before_, saved_ = false;
};

TEST_F(Crash, AnEditBetweenPlanAndSwapEndsTheRun) {
  start();
  DyingDisk disk(root, kNever);
  const Plan made = planned(disk, kNew);
  spit("b.md", "saved meanwhile\n");
  const Files before = read_all();
  try {
    apply_plan(disk, made);
    FAIL() << "the edit was overwritten";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), "E0522");
  }
  EXPECT_EQ(read_all(), before);
}

// A file that is replaced, merged, removed, created: what is saved as it goes is there afterwards, and nothing else is
// touched.
TEST_F(Crash, AnEditInTheMomentOfTheSwapEndsTheRun) {
  for (const char* victim : {"a.cpp", "b.md", "d/old.cpp", "e/new.cpp"}) {
    for (bool atomic : {true, false}) {
      start();
      EditedDisk disk(root, victim, true);
      disk.atomic_exchange = atomic;
      EXPECT_THROW(apply_plan(disk, planned(disk, kNew)), Failure) << victim;
      Files now = read_all();
      EXPECT_EQ(now[victim], EditedDisk::kText);
      Files before = started;
      before[victim] = EditedDisk::kText;
      EXPECT_EQ(now, before) << victim;
    }
  }
}

TEST_F(Crash, AnEditRightAfterTheSwapIsAnEditOfTheNewFile) {
  for (const char* victim : {"a.cpp", "b.md", "d/old.cpp", "e/new.cpp"}) {
    start();
    EditedDisk disk(root, victim, false);
    apply_plan(disk, planned(disk, kNew));
    Files after = finished;
    after[victim] = EditedDisk::kText;
    EXPECT_EQ(read_all(), after) << victim;
    EXPECT_TRUE(last_run(disk)->edited()) << victim;
  }
}

// An editor that keeps a file open while it is replaced writes into the old file.
TEST_F(Crash, WhatIsWrittenIntoAReplacedFileIsKept) {
  start();
  std::ofstream editor(root / "b.md", std::ios::binary | std::ios::app);
  DyingDisk disk(root, kNever);
  apply_plan(disk, planned(disk, kNew));
  EXPECT_TRUE(keep_late_writes(disk).paths.empty());
  editor << "written late\n" << std::flush;
  EXPECT_TRUE(last_run(disk)->edited());
  apply_plan(disk, planned(disk, kOld));  // would drop what the run before had replaced
  EXPECT_TRUE(anywhere("written late\n"));
  editor << "later still\n" << std::flush;
  EXPECT_TRUE(anywhere("written late\nlater still\n"));
}

}  // namespace
}  // namespace openreg_gen
