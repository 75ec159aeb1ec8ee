#include "tree/plan.h"

#include "memory_disk.h"
#include "tree/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace openreg_gen {
namespace {

using testing::HasSubstr;

constexpr auto kGenerated = FileClass::Generated;
constexpr auto kShared = FileClass::Shared;
constexpr auto kOwned = FileClass::Owned;

class Tree : public testing::Test {
 protected:
  static Manifest next(const std::string& inputs = "1") { return {"0.1.0", "torch-2.13.0-x", "my.yaml", inputs, {}}; }

  static std::vector<Rendered> renders(const std::vector<FileOf>& files) {
    std::vector<Rendered> out;
    for (const FileOf& file : files) {
      Output output;
      output.template_name = file.path + ".j2";
      output.path = file.path;
      output.file_class = file.file_class;
      output.key = "ops";
      out.push_back({output, file.text, std::nullopt});
    }
    return out;
  }

  std::optional<Manifest> manifest() const {
    const auto at = disk.files.find(std::string(kManifest));
    if (at == disk.files.end()) return std::nullopt;
    return parse_manifest(at->second);
  }

  Plan plan(const std::vector<FileOf>& files) {
    const auto old = manifest();
    return make_plan(disk, old ? &*old : nullptr, renders(files), next());
  }

  Plan apply(const std::vector<FileOf>& files) {
    Plan made = plan(files);
    EXPECT_FALSE(made.refused());
    disk.writes.clear();
    apply_plan(disk, made);
    return made;
  }

  static std::string text_of(const Plan& plan) {
    std::string out;
    for (const Step& step : plan.steps) {
      out += std::string(to_string(step.action())) + " " + step.path +
             (step.reason().empty() ? "" : ": " + step.reason()) + "\n";
    }
    return out;
  }

  MemoryDisk disk;
};

TEST_F(Tree, NewFilesAreCreated) {
  const Plan made = apply({{"a.cpp", "a"}, {"b/c.md", "c", kShared}, {"k.cpp", "k", kOwned}});
  EXPECT_EQ(text_of(made), "create a.cpp: new\ncreate b/c.md: new\ncreate k.cpp: new\n");
  EXPECT_EQ(disk.files["a.cpp"], "a");
  EXPECT_EQ(disk.files[".openreg-gen/pristine/b/c.md"], "c");
  EXPECT_FALSE(disk.files.contains(".openreg-gen/pristine/a.cpp"));
  EXPECT_EQ(manifest()->files.size(), 3u);
  EXPECT_EQ(disk.list(".openreg-gen"), (std::vector<std::string>{"manifest.json", "pristine"}));
}

TEST_F(Tree, FilesThatMovedComeAlong) {
  const std::string old_text = "1\n2\n3\n4\n5\n";
  apply({{"a/b.md", old_text, kShared}, {"a/c.md", old_text, kShared}, {"a/k.cpp", "k", kOwned}, {"a/g.cpp", "g"}});
  disk.files["a/b.md"] = old_text + "mine\n";
  disk.files["a/k.cpp"] = "my kernel";
  std::vector<Rendered> moved = renders({{"n/b.md", "0\n" + old_text, kShared},
                                         {"n/c.md", old_text, kShared},
                                         {"n/k.cpp", "k", kOwned},
                                         {"n/g.cpp", "g"}});
  for (Rendered& each : moved) each.output.was = "a" + each.output.path.substr(1);
  const auto old = manifest();
  const Plan made = make_plan(disk, &*old, moved, next());
  EXPECT_EQ(text_of(made),
            "remove a/b.md: has another path now\nremove a/c.md: has another path now\n"
            "remove a/g.cpp: no longer asked for\nremove a/k.cpp: has another path now\n"
            "merge n/b.md: your edits and the new render; was a/b.md\nunchanged n/c.md: was a/c.md\n"
            "create n/g.cpp: new\nkeep n/k.cpp: was a/k.cpp\n");
  apply_plan(disk, made);
  EXPECT_EQ(disk.files["n/b.md"], "0\n" + old_text + "mine\n");
  EXPECT_EQ(disk.files["n/c.md"], old_text);
  EXPECT_EQ(disk.files["n/k.cpp"], "my kernel");
  EXPECT_EQ(disk.files["n/g.cpp"], "g");
  for (const char* path : {"a/b.md", "a/c.md", "a/k.cpp", "a/g.cpp", ".openreg-gen/pristine/a/b.md"})
    EXPECT_FALSE(disk.files.contains(path)) << path;
  const auto moved_manifest = manifest();
  EXPECT_TRUE(make_plan(disk, &*moved_manifest, moved, next()).clean());
}

TEST_F(Tree, SameRenderTouchesNothing) {
  apply({{"a.cpp", "a"}, {"b.md", "b", kShared}, {"k.cpp", "k", kOwned}});
  const Plan again = apply({{"a.cpp", "a"}, {"b.md", "b", kShared}, {"k.cpp", "k", kOwned}});
  EXPECT_FALSE(again.changes());
  EXPECT_TRUE(disk.writes.empty());
}

TEST_F(Tree, OnlyWhatIsStaleIsWritten) {
  apply({{"a.cpp", "a"}, {"b.cpp", "b"}});
  const Plan made = apply({{"a.cpp", "a"}, {"b.cpp", "B"}});
  EXPECT_EQ(text_of(made), "unchanged a.cpp\nupdate b.cpp: stale\n");
  EXPECT_EQ(disk.writes.count("a.cpp"), 0u);
  EXPECT_EQ(disk.files["b.cpp"], "B");
}

TEST_F(Tree, AnEditedGeneratedFileIsRefusedEvenIfTheRenderIsTheSame) {
  apply({{"a.cpp", "a"}});
  disk.files["a.cpp"] = "mine";
  const Plan made = plan({{"a.cpp", "a"}});
  EXPECT_TRUE(made.refused());
  EXPECT_EQ(text_of(made), "refuse a.cpp: edited\n");
  EXPECT_EQ(made.steps[0].key, "ops");
}

TEST_F(Tree, AnEditThatEqualsTheNewRenderIsNoConflict) {
  apply({{"a.cpp", "a"}});
  disk.files["a.cpp"] = "A";
  EXPECT_FALSE(apply({{"a.cpp", "A"}}).refused());
  EXPECT_FALSE(plan({{"a.cpp", "A"}}).changes());
}

TEST_F(Tree, AnEditedSharedFileStaysWhileItsRenderDoes) {
  apply({{"b.md", "b", kShared}});
  disk.files["b.md"] = "mine";
  const Plan same = apply({{"b.md", "b", kShared}});
  EXPECT_EQ(text_of(same), "keep b.md: edited\n");
  EXPECT_FALSE(same.changes());
  EXPECT_EQ(disk.files["b.md"], "mine");
}

TEST_F(Tree, AnOwnedFileIsNeverWrittenAgain) {
  apply({{"k.cpp", "k", kOwned}});
  EXPECT_THAT(text_of(apply({{"k.cpp", "K", kOwned}})), HasSubstr("would now write it differently"));
  disk.files["k.cpp"] = "mine";
  EXPECT_EQ(text_of(apply({{"k.cpp", "K", kOwned}})), "keep k.cpp\n");  // said once
  EXPECT_EQ(disk.files["k.cpp"], "mine");
}

TEST_F(Tree, AnOwnedFileThatWasThereBeforeIsKept) {
  disk.files["k.cpp"] = "mine";
  apply({{"k.cpp", "k", kOwned}});
  EXPECT_EQ(disk.files["k.cpp"], "mine");
}

TEST_F(Tree, AMissingFileComesBack) {
  apply({{"a.cpp", "a"}, {"k.cpp", "k", kOwned}});
  disk.files.erase("a.cpp");
  disk.files.erase("k.cpp");
  EXPECT_EQ(text_of(apply({{"a.cpp", "a"}, {"k.cpp", "k", kOwned}})), "create a.cpp: missing\ncreate k.cpp: missing\n");
  EXPECT_EQ(disk.files["k.cpp"], "k");
}

TEST_F(Tree, WhatIsNoLongerAskedForGoesUnlessItWasEdited) {
  apply({{"a.cpp", "a"}, {"b.cpp", "b"}, {"c.md", "c", kShared}, {"k.cpp", "k", kOwned}});
  disk.files["b.cpp"] = "mine";
  disk.files["k.cpp"] = "mine";
  const Plan made = apply({});
  EXPECT_EQ(text_of(made),
            "remove a.cpp: no longer asked for\n"
            "keep b.cpp: no longer asked for, but edited: yours from now on\n"
            "remove c.md: no longer asked for\n"
            "keep k.cpp: yours, since you edited it; the spec no longer asks for it\n");
  EXPECT_FALSE(disk.files.contains("a.cpp"));
  EXPECT_FALSE(disk.files.contains(".openreg-gen/pristine/c.md"));
  EXPECT_EQ(disk.files["k.cpp"], "mine");
  EXPECT_EQ(manifest()->files.size(), 1u);  // the kernel is known, should the spec ask for it again
  EXPECT_TRUE(plan({}).clean());
  disk.files.erase("k.cpp");
  apply({});
  EXPECT_TRUE(manifest()->files.empty());
}

TEST_F(Tree, AForeignFileIsNotOverwritten) {
  disk.files["a.cpp"] = "theirs";
  EXPECT_EQ(text_of(plan({{"a.cpp", "a"}})), "refuse a.cpp: exists, and openreg-gen did not write it\n");
}

TEST_F(Tree, WhatIsInTheWayIsNamed) {
  disk.others["a.cpp"] = FileKind::Folder;
  disk.others["l.cpp"] = FileKind::Symlink;
  disk.files["d"] = "";
  const Plan made = plan({{"a.cpp", "a"}, {"d/e.cpp", "e"}, {"l.cpp", "l"}});
  EXPECT_EQ(text_of(made),
            "refuse a.cpp: a folder is in its place\n"
            "refuse d/e.cpp: 'd' is a file where a folder has to be\n"
            "refuse l.cpp: a symlink is in its place\n");
}

TEST_F(Tree, ASymlinkThatLeadsOutEndsTheRun) {
  disk.outside.insert("csrc");
  try {
    plan({{"csrc/a.cpp", "a"}});
    FAIL() << "nothing was thrown";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), "E0508");
  }
  disk.outside = {".openreg-gen"};
  EXPECT_THROW(plan({{"a.cpp", "a"}}), Failure);
}

TEST_F(Tree, ASymlinkThatLeadsOutIsNotFollowedToRemove) {
  apply({{"csrc/a.cpp", "a"}});
  disk.outside.insert("csrc");
  EXPECT_THROW(plan({}), Failure);
}

TEST_F(Tree, FreshIsToldWithoutRendering) {
  apply({{"a.cpp", "a"}, {"b.md", "b", kShared}, {"k.cpp", "k", kOwned}});
  EXPECT_TRUE(is_fresh(disk, *manifest(), next()));
  EXPECT_FALSE(is_fresh(disk, *manifest(), next("2")));
  Manifest newer = next();
  newer.tool = "0.2.0";
  EXPECT_FALSE(is_fresh(disk, *manifest(), newer));

  disk.files["b.md"] = "mine";
  disk.files["k.cpp"] = "mine";
  EXPECT_TRUE(is_fresh(disk, *manifest(), next()));
  const MemoryDisk before = disk;
  disk.files["a.cpp"] = "mine";
  EXPECT_FALSE(is_fresh(disk, *manifest(), next()));
  disk = before;
  disk.files.erase("k.cpp");
  EXPECT_FALSE(is_fresh(disk, *manifest(), next()));
  disk = before;
  disk.files.erase(".openreg-gen/pristine/b.md");
  EXPECT_FALSE(is_fresh(disk, *manifest(), next()));
}

// Every change of the disk is made to fail in turn: the tree is as it was, and a second try succeeds.
TEST_F(Tree, AFailureLeavesTheTreeAsItWas) {
  apply({{"a.cpp", "a"}, {"b.cpp", "b"}, {"c.md", "c", kShared}});
  const std::vector<FileOf> files{{"a.cpp", "A"}, {"c.md", "C", kShared}, {"d/e.cpp", "e"}};
  const auto before = disk.files;
  const Plan made = plan(files);
  int failures = 0;
  for (int at = 0;; ++at) {
    disk.files = before;
    disk.fail_at = at;
    try {
      apply_plan(disk, made);
      if (disk.fail_at >= 0) break;  // there was no such change: all have been tried
    } catch (const Failure&) {
      ++failures;
      // Clearing the temporary folder is the last change: when that fails, all the rest is done.
      if (disk.files["a.cpp"] == "a") {
        EXPECT_EQ(disk.files, before) << "failed at change " << at;
      } else {
        EXPECT_EQ(parse_manifest(disk.files[std::string(kManifest)]).files.size(), 3u);
        EXPECT_EQ(disk.files["d/e.cpp"], "e");
      }
    }
  }
  EXPECT_GT(failures, 10);
}

// The process is gone at every change in turn; the next run finishes or clears what it finds.
TEST_F(Tree, AKilledRunIsFinishedOrCleared) {
  apply({{"a.cpp", "a"}, {"b.cpp", "b"}});
  const std::vector<FileOf> files{{"a.cpp", "A"}, {"d/e.cpp", "e"}};
  const auto before = disk.files;
  const Plan made = plan(files);
  disk.stay_dead = true;
  bool finished = false, cleared = false;
  for (int at = 0;; ++at) {
    disk.files = before;
    disk.killed = false;
    disk.fail_at = at;
    try {
      apply_plan(disk, made);
      if (disk.fail_at >= 0) break;
    } catch (const Failure&) {
    }
    disk.killed = false;
    disk.fail_at = -1;
    if (needs_recovery(disk)) recover(disk);
    EXPECT_FALSE(needs_recovery(disk));
    if (disk.files == before) {
      cleared = true;
    } else {
      finished = true;
      EXPECT_EQ(disk.files["a.cpp"], "A") << "killed at change " << at;
      EXPECT_EQ(disk.files["d/e.cpp"], "e") << "killed at change " << at;
      EXPECT_FALSE(disk.files.contains("b.cpp")) << "killed at change " << at;
      EXPECT_FALSE(plan(files).changes()) << "killed at change " << at;
    }
  }
  EXPECT_TRUE(finished);
  EXPECT_TRUE(cleared);
}

TEST_F(Tree, AReadOnlyFolderIsFoundBeforeAnythingIsWritten) {
  disk.read_only.insert("csrc");
  const Plan made = plan({{"a.cpp", "a"}, {"csrc/b.cpp", "b"}});
  EXPECT_THROW(apply_plan(disk, made), Failure);
  EXPECT_TRUE(disk.files.empty());
}

TEST_F(Tree, AJournalDoesNotLeadOut) {
  disk.files[".openreg-gen/tmp/new0"] = "x";
  disk.files[".openreg-gen/tmp/journal.json"] = R"({"steps":[{"from":".openreg-gen/tmp/new0","to":"../x"}]})";
  EXPECT_THROW(recover(disk), Failure);
  EXPECT_FALSE(disk.files.contains("../x"));
}

}  // namespace
}  // namespace openreg_gen
