#include "tree/plan.h"

#include "memory_disk.h"
#include "tree/journal.h"
#include "tree/own.h"
#include "tree/status.h"
#include "tree/undo.h"

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

  static std::vector<RenderedFile> renders(const std::vector<FileOf>& files) {
    std::vector<RenderedFile> out;
    for (const FileOf& file : files) {
      Output output;
      output.template_name = file.path + ".j2";
      output.path = file.path;
      output.file_class = file.file_class;
      output.key = "ops";
      if (file.file_class == kOwned) output.id = file.path.substr(file.path.rfind('/') + 1);
      out.push_back({output, file.text, std::nullopt});
    }
    return out;
  }

  std::optional<Manifest> manifest() const {
    const auto at = disk.files.find(std::string(kManifest));
    if (at == disk.files.end()) return std::nullopt;
    return parse_manifest(at->second);
  }

  Plan plan(const std::vector<FileOf>& files, const std::set<std::string>& disown = {}) {
    const auto old = manifest();
    PlanOptions options;
    options.disown = disown;
    return make_plan(disk, old ? &*old : nullptr, renders(files), next(), options);
  }

  Plan apply(const std::vector<FileOf>& files, const std::set<std::string>& disown = {}) {
    Plan made = plan(files, disown);
    EXPECT_FALSE(made.refused());
    disk.writes.clear();
    apply_plan(disk, made);
    return made;
  }

  void own(const std::string& path) { apply_plan(disk, own_plan(disk, *manifest(), {path}), "own"); }

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

// As a later openreg-gen may do it. Nothing is lost, and no kernel is there twice.
TEST_F(Tree, AnOutputThatGetsAnotherPathLosesNothing) {
  const std::string kernel = "// [openreg-gen k.cpp]\n";
  apply({{"a/b.md", "b", kShared},
         {"a/c.md", "c", kShared},
         {"a/g.cpp", "g"},
         {"a/k.cpp", kernel, kOwned},
         {"a/taken.cpp", "t"}});
  disk.files["a/b.md"] = "mine";
  own("a/taken.cpp");
  const std::vector<FileOf> moved{{"n/b.md", "b", kShared},
                                  {"n/c.md", "c", kShared},
                                  {"n/g.cpp", "g"},
                                  {"n/k.cpp", kernel, kOwned},
                                  {"n/taken.cpp", "t"}};
  for (const std::string mine : {"", "my kernel\n"}) {
    const auto before = disk.files;
    disk.files["a/k.cpp"] = kernel + mine;
    EXPECT_EQ(text_of(apply(moved)),
              "keep a/b.md: no longer needed; kept, since you edited it\n"
              "remove a/c.md: no longer needed\nremove a/g.cpp: no longer needed\n"
              "keep a/k.cpp: yours, moved here from n/k.cpp\n"
              "keep a/taken.cpp: no longer needed; kept, since it is yours\n"
              "create n/b.md: new\ncreate n/c.md: new\ncreate n/g.cpp: new\ncreate n/taken.cpp: new\n");
    EXPECT_EQ(disk.files["a/k.cpp"], kernel + mine);
    EXPECT_FALSE(disk.files.contains("n/k.cpp"));
    EXPECT_TRUE(plan(moved).clean());
    EXPECT_FALSE(manifest()->files.contains("a/k.cpp"));
    disk.files = before;
  }
}

TEST_F(Tree, AFileThatIsTakenIsNeverWrittenUntilItIsGivenBack) {
  const std::vector<FileOf> files{{"a.cpp", "a"}, {"b.md", "b", kShared}, {"k.cpp", "k", kOwned}};
  const std::vector<FileOf> later{{"a.cpp", "A"}, {"b.md", "B", kShared}, {"k.cpp", "K", kOwned}};
  apply(files);
  own("a.cpp");
  disk.files.erase("b.md");
  own("b.md");
  disk.files.erase("k.cpp");
  own("k.cpp");
  const auto before = disk.files;
  EXPECT_EQ(text_of(apply(files)), "keep a.cpp\nkeep b.md\nkeep k.cpp\n");
  EXPECT_TRUE(plan(files).clean());
  const auto differs =
      std::string(": yours; openreg-gen would now write a different one: `openreg-gen generate --diff`\n");
  EXPECT_EQ(text_of(apply(later)), "keep a.cpp" + differs + "keep b.md" + differs + "keep k.cpp" + differs);
  disk.files.erase("a.cpp");
  apply(later);
  for (const char* path : {"a.cpp", "b.md", "k.cpp"}) EXPECT_FALSE(disk.files.contains(path)) << path;
  EXPECT_TRUE(is_fresh(disk, *manifest(), next()));
  apply({});
  EXPECT_EQ(manifest()->files.size(), 3u);  // the spec may ask for them again
  EXPECT_EQ(text_of(apply(later)), "keep a.cpp\nkeep b.md\nkeep k.cpp\n");
  EXPECT_EQ(text_of(apply(later, {"a.cpp", "b.md", "k.cpp"})),
            "create a.cpp: missing\ncreate b.md: missing\ncreate k.cpp: missing\n");
  EXPECT_EQ(disk.files["b.md"], "B");
  EXPECT_TRUE(plan(later).clean());
}

TEST_F(Tree, GivenBackWhenTheSpecNoLongerAsksForItAFileStaysAndIsForgotten) {
  apply({{"a.cpp", "a"}});
  own("a.cpp");
  disk.files["a.cpp"] = "mine";
  apply({});
  EXPECT_EQ(text_of(apply({}, {"a.cpp"})), "keep a.cpp: no longer needed; kept, since you edited it\n");
  EXPECT_EQ(disk.files["a.cpp"], "mine");
  EXPECT_TRUE(manifest()->files.empty());
}

// A folder or a link that its owner put in a file's place stays, if the file is theirs.
TEST_F(Tree, OwnTakesAPathWhateverIsThere) {
  apply({{"a.cpp", "a"}, {"b.cpp", "b"}});
  disk.files.erase("a.cpp");
  disk.files.erase("b.cpp");
  disk.others["a.cpp"] = FileKind::Symlink;
  disk.others["b.cpp"] = FileKind::Folder;
  EXPECT_TRUE(plan({{"a.cpp", "a"}, {"b.cpp", "b"}}).refused());
  own("?.cpp");
  EXPECT_EQ(text_of(apply({{"a.cpp", "a"}, {"b.cpp", "b"}})), "keep a.cpp\nkeep b.cpp\n");
  EXPECT_TRUE(plan({{"a.cpp", "a"}, {"b.cpp", "b"}}).clean());
}

TEST_F(Tree, OwnTakesFoldersAndPatterns) {
  const auto taken = [&](const std::string& path) {
    disk.files.clear();
    apply(
        {{"a.md", "a"}, {"t/a.cpp", "a"}, {"t/b.md", "b"}, {"t/c/d.cpp", "d"}, {"t2/e.cpp", "e"}, {"k", "k", kOwned}});
    own(path);
    std::string out;
    const auto known = manifest();
    for (const auto& [each, file] : known->files)
      if (file.taken()) out += each + " ";
    return out;
  };
  EXPECT_EQ(taken("t"), "t/a.cpp t/b.md t/c/d.cpp ");
  EXPECT_EQ(taken("t/"), "t/a.cpp t/b.md t/c/d.cpp ");
  EXPECT_EQ(taken("*.md"), "a.md t/b.md ");
  EXPECT_EQ(taken("t/?.cpp"), "t/a.cpp ");
  EXPECT_EQ(taken("t[0-9]/*"), "t2/e.cpp ");
  EXPECT_EQ(taken("k"), "");
  for (const char* none : {"*.py", "t3", "t/a", "", "../a.md"}) {
    try {
      taken(none);
      ADD_FAILURE() << none << " was taken";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), "E0530") << none;
    }
  }
}

TEST_F(Tree, DisownIsForWhatWasTaken) {
  apply({{"a.cpp", "a"}, {"k.cpp", "k", kOwned}});
  Manifest known = *manifest();
  known.files["my.yaml"] = {kOwned, "0", "", "", "", "", "", "", ""};
  const auto hint_of = [&](const std::string& path) {
    try {
      check_disown(known, {path});
    } catch (const Failure& failure) {
      return failure.code() + ": " + failure.hint();
    }
    return std::string("none");
  };
  EXPECT_EQ(hint_of("a.cpp"), "E0532: ");
  EXPECT_THAT(hint_of("k.cpp"), HasSubstr("E0532: if you delete it"));
  EXPECT_EQ(hint_of("my.yaml"), "E0532: ");  // never to be deleted
  EXPECT_EQ(check_disown(known, {"*"}), std::vector<std::string>());
  own("a.cpp");
  known = *manifest();
  EXPECT_EQ(check_disown(known, {"*"}), std::vector<std::string>{"a.cpp"});
}

TEST_F(Tree, TheManifestsClassWinsOverAnotherOneOfTheTemplate) {
  const std::vector<FileOf> owned{{"a.cpp", "a", kOwned}, {"b.cpp", "b", kOwned}, {"c.cpp", "c", kOwned}};
  const std::vector<FileOf> later{{"a.cpp", "A"}, {"b.cpp", "B"}, {"c.cpp", "C", kShared}};
  apply(owned);
  disk.files["a.cpp"] = "mine";
  disk.files["c.cpp"] = "mine, too";
  EXPECT_EQ(text_of(apply(later)),
            "keep a.cpp: yours; openreg-gen would now write a different one: `openreg-gen generate --diff`\nupdate "
            "b.cpp: stale\n"
            "keep c.cpp: yours; openreg-gen would now write a different one: `openreg-gen generate --diff`\n");
  EXPECT_EQ(manifest()->files["b.cpp"].file_class, kGenerated);
  EXPECT_TRUE(plan(later).clean());
  EXPECT_EQ(text_of(apply(later, {"a.cpp", "c.cpp"})),
            "update a.cpp: given back\nunchanged b.cpp\nupdate c.cpp: given back\n");
  EXPECT_EQ(disk.files["c.cpp"], "C");
  EXPECT_EQ(disk.files[".openreg-gen/backup/1/c.cpp"], "mine, too");
}

TEST_F(Tree, AnEditedFileThatLeftTheSpecComesBackAsIfItHadStayed) {
  apply({{"a.cpp", "a"}, {"b.md", "1\n2\n3\n", kShared}});
  disk.files["a.cpp"] = "mine";
  disk.files["b.md"] = "1\n2\n3\nmine\n";
  apply({});
  EXPECT_TRUE(is_fresh(disk, *manifest(), next()));
  EXPECT_EQ(text_of(plan({{"a.cpp", "A"}, {"b.md", "0\n1\n2\n3\n", kShared}})),
            "refuse a.cpp: edited\nmerge b.md: your edits and the new render\n");
  apply({{"b.md", "0\n1\n2\n3\n", kShared}});
  EXPECT_EQ(disk.files["b.md"], "0\n1\n2\n3\nmine\n");
}

// Nothing but its text says that a file is in conflict.
TEST_F(Tree, AFileWithMarkersIsInConflict) {
  apply({{"b.md", "b\n", kShared}});
  disk.files["b.md"] = "<<<<<<< yours\nmine\n||||||| last render\nb\n=======\nB\n>>>>>>> new render\n";
  EXPECT_FALSE(is_fresh(disk, *manifest(), next()));
  EXPECT_EQ(text_of(plan({{"b.md", "b\n", kShared}})), "conflict b.md: conflict, line 1\n");
  EXPECT_EQ(text_of(plan({{"b.md", "C\n", kShared}})), "refuse b.md: conflict markers to resolve first, line 1\n");
  EXPECT_EQ(file_statuses(disk, *manifest())[0].markers, std::vector<int>{1});
}

// `undo` takes back the last run that wrote a file: what follows from files is not worth forgetting it.
TEST_F(Tree, ARunThatOnlyNotesSomethingLeavesTheUndo) {
  const std::string kernel = "// [openreg-gen k.cpp]\n";
  apply({{"a.cpp", "a"}});
  const std::string first = disk.files[std::string(kManifest)];
  const std::vector<FileOf> files{{"a.cpp", "a"}, {"b.md", "b", kShared}, {"k.cpp", kernel, kOwned}};
  apply_plan(disk, plan(files), "add");
  const auto as_added = disk.files;
  disk.files["mine.cpp"] = disk.files["k.cpp"];
  disk.files.erase("k.cpp");
  apply(files);
  EXPECT_EQ(manifest()->files["k.cpp"].at, "mine.cpp");
  EXPECT_EQ(last_run(disk)->what, "add");
  EXPECT_TRUE(last_run(disk)->edited());  // the kernel is not where it was
  disk.files["k.cpp"] = disk.files["mine.cpp"];
  disk.files.erase("mine.cpp");
  disk.files.erase(".openreg-gen/pristine/b.md");
  apply(files);
  EXPECT_EQ(last_run(disk)->files.size(), 2u);
  undo_last_run(disk);
  EXPECT_EQ(disk.files[std::string(kManifest)], first);
  EXPECT_FALSE(disk.files.contains("b.md") || disk.files.contains(".openreg-gen/pristine/b.md"));
  undo_last_run(disk);
  EXPECT_EQ(disk.files["k.cpp"], kernel);
  EXPECT_EQ(disk.files[std::string(kManifest)], as_added.at(std::string(kManifest)));
}

// Killed at every change in turn: the run before it can still be undone, or undo says that it can't.
TEST_F(Tree, ARunThatOnlyNotesSomethingLeavesTheUndoAlsoWhenKilled) {
  const std::string kernel = "// [openreg-gen k.cpp]\n";
  const std::vector<FileOf> files{{"a.cpp", "a"}, {"k.cpp", kernel, kOwned}}, before{{"a.cpp", "A"}};
  apply(before);
  apply_plan(disk, plan(files), "add");
  disk.files["mine.cpp"] = disk.files["k.cpp"];
  disk.files.erase("k.cpp");
  const auto moved = disk.files;
  const Plan noting = plan(files);
  disk.stay_dead = true;
  int kills = 0;
  for (int at = 0;; ++at, ++kills) {
    disk.files = moved;
    disk.killed = false;
    disk.fail_at = at;
    try {
      apply_plan(disk, noting);
      if (disk.fail_at >= 0) break;
    } catch (const Failure&) {
    }
    disk.killed = false;
    disk.fail_at = -1;
    recover(disk);
    EXPECT_EQ(last_run(disk)->what, "add") << "killed at change " << at;
    disk.files["k.cpp"] = disk.files["mine.cpp"];
    disk.files.erase("mine.cpp");
    EXPECT_FALSE(last_run(disk)->edited()) << "killed at change " << at;
  }
  EXPECT_GT(kills, 4);
}

TEST_F(Tree, AnUndoThatIsNotUnderstoodIsInNobodysWay) {
  apply({{"a.cpp", "a"}, {"b.md", "b", kShared}});
  apply({{"a.cpp", "A"}, {"b.md", "b", kShared}});
  const std::string journal = std::string(kUndo) + "/journal.json", other = R"({"format": 2})";
  disk.files[journal] = other;
  disk.files.erase(".openreg-gen/pristine/b.md");
  apply({{"a.cpp", "A"}, {"b.md", "b", kShared}});
  EXPECT_TRUE(disk.files.contains(".openreg-gen/pristine/b.md"));
  EXPECT_EQ(disk.files[journal], other);
  EXPECT_THROW(last_run(disk), Failure);
}

TEST_F(Tree, ForceNeverWritesWhatIsTaken) {
  apply({{"a.cpp", "a"}, {"b.md", "b", kShared}});
  own("*");
  disk.files["a.cpp"] = "mine";
  disk.files.erase("b.md");
  PlanOptions options;
  options.force = true;
  options.side = MergeSide::Theirs;
  const auto old = manifest();
  const Plan made = make_plan(disk, &*old, renders({{"a.cpp", "A"}, {"b.md", "B", kShared}}), next(), options);
  apply_plan(disk, made);
  EXPECT_EQ(disk.files["a.cpp"], "mine");
  EXPECT_FALSE(disk.files.contains("b.md") || disk.files.contains(".openreg-gen/backup/1/a.cpp"));
}

// Its owner took it as it is, markers and all.
TEST_F(Tree, AConflictEndsWithOwn) {
  apply({{"b.md", "b\n", kShared}});
  const std::string marked = "<<<<<<< yours\nmine\n||||||| last render\nb\n=======\nB\n>>>>>>> new render\n";
  disk.files["b.md"] = marked;
  EXPECT_FALSE(plan({{"b.md", "b\n", kShared}}).clean());
  own("b.md");
  apply({{"b.md", "b\n", kShared}});
  EXPECT_TRUE(plan({{"b.md", "b\n", kShared}}).clean());
  EXPECT_EQ(disk.files["b.md"], marked);
  EXPECT_TRUE(file_statuses(disk, *manifest())[0].markers.empty());
}

TEST_F(Tree, AKernelThatWasTakenWhileItWasGoneIsFoundAgainWhenGivenBack) {
  const std::string kernel = "// [openreg-gen k.cpp]\nmine\n";
  apply({{"k.cpp", "// [openreg-gen k.cpp]\n", kOwned}});
  disk.files.erase("k.cpp");
  disk.files["mine.cpp"] = kernel;
  own("k.cpp");
  EXPECT_EQ(text_of(apply({{"k.cpp", "k", kOwned}})),
            "keep k.cpp: yours; openreg-gen would now write a different one: `openreg-gen generate --diff`\n");
  EXPECT_EQ(text_of(apply({{"k.cpp", "k", kOwned}}, {"k.cpp"})), "keep mine.cpp: yours, moved here from k.cpp\n");
  EXPECT_FALSE(disk.files.contains("k.cpp"));
}

// A class is worth undoing, also where it is written in no header.
TEST_F(Tree, UndoTakesOwnBack) {
  apply({{"a.json", "{}"}, {"b.json", "{}"}});
  const auto before = disk.files;
  own("a.json");
  EXPECT_TRUE(manifest()->files["a.json"].taken());
  EXPECT_EQ(last_run(disk)->what, "own");
  EXPECT_EQ(last_run(disk)->files.size(), 1u);
  const auto taken = disk.files;
  own("a.json");
  EXPECT_EQ(disk.files, taken);
  undo_last_run(disk);
  EXPECT_EQ(disk.files[std::string(kManifest)], before.at(std::string(kManifest)));
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
  for (int run = 0; run < 2; ++run) {  // as long as nothing of the owner's is in it, which may lack what is asked for
    const Plan plan = apply({{"k.cpp", "K", kOwned}});
    EXPECT_THAT(text_of(plan), HasSubstr("would now write a different one"));
  }
  disk.files["k.cpp"] = "mine";
  EXPECT_EQ(text_of(apply({{"k.cpp", "K", kOwned}})), "keep k.cpp\n");
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
            "remove a.cpp: no longer needed\n"
            "keep b.cpp: no longer needed; kept, since you edited it\n"
            "remove c.md: no longer needed\n"
            "keep k.cpp: no longer needed; kept, since you edited it\n");
  EXPECT_FALSE(disk.files.contains("a.cpp"));
  EXPECT_FALSE(disk.files.contains(".openreg-gen/pristine/c.md"));
  EXPECT_EQ(disk.files["k.cpp"], "mine");
  EXPECT_EQ(manifest()->files.size(), 2u);  // they are known, should the spec ask for them again
  EXPECT_TRUE(plan({}).clean());
  disk.files.erase("b.cpp");
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
            "refuse d/e.cpp: 'd' is a file, but must be a folder\n"
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
