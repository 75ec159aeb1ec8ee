// Three-way merges by git, markers of conflicts, line ends.
#include "tree/merge.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace openreg_gen {
namespace {

constexpr const char* kBase = "one\ntwo\nthree\nfour\nfive\n";
constexpr const char* kMarked =
    "a\n<<<<<<< yours\nmine\n||||||| last render\nwas\n=======\nnew\n>>>>>>> new render\nz\n";

/// No git on PATH, as long as it lives.
class NoGit {
 public:
  NoGit() : path_(std::getenv("PATH")) { setenv("PATH", "/nonexistent", 1); }
  ~NoGit() { setenv("PATH", path_.c_str(), 1); }
  NoGit(const NoGit&) = delete;
  NoGit& operator=(const NoGit&) = delete;

 private:
  std::string path_;
};

MergeResult merge(const std::string& ours, const std::string& base, const std::string& theirs,
                  MergeSide side = MergeSide::Markers) {
  return merge_by_git(ours, base, theirs, side);
}

TEST(Merge, ChangesOfDifferentLinesAreBothThere) {
  const MergeResult merged = merge("ONE\ntwo\nthree\nfour\nfive\n", kBase, "one\ntwo\nthree\nfour\nFIVE\n");
  EXPECT_EQ(merged.kind, MergeResult::Kind::Clean);
  EXPECT_EQ(merged.text, "ONE\ntwo\nthree\nfour\nFIVE\n");
}

// So a run that is killed leaves none behind.
TEST(Merge, NeedsNoTemporaryFolder) {
  setenv("TMPDIR", "/nonexistent", 1);
  const MergeResult merged = merge("ONE\ntwo\n", "one\ntwo\n", "one\nTWO\n");
  unsetenv("TMPDIR");
  EXPECT_EQ(merged.kind, MergeResult::Kind::Conflict) << merged.why;
}

TEST(Merge, ChangesOfTheSameLineAreAConflictInDiff3Style) {
  const std::string ours = "one\ntwo\nmine\nfour\nfive\n", theirs = "one\ntwo\nnew\nfour\nfive\n";
  const MergeResult merged = merge(ours, kBase, theirs);
  EXPECT_EQ(merged.kind, MergeResult::Kind::Conflict);
  EXPECT_EQ(
      merged.text,
      "one\ntwo\n<<<<<<< yours\nmine\n||||||| last render\nthree\n=======\nnew\n>>>>>>> new render\nfour\nfive\n");
  EXPECT_EQ(conflict_lines(merged.text), std::vector<int>{3});
  EXPECT_EQ(merge(ours, kBase, theirs, MergeSide::Ours).text, ours);
  EXPECT_EQ(merge(ours, kBase, theirs, MergeSide::Theirs).text, theirs);
  EXPECT_EQ(merge(ours, kBase, theirs, MergeSide::Theirs).kind, MergeResult::Kind::Clean);
}

// More conflicts than an exit code can count.
TEST(Merge, HundredsOfConflicts) {
  std::string base, ours, theirs;
  for (int i = 0; i < 300; ++i) {
    const std::string line = std::to_string(i) + "\n";
    base += "base " + line + "same " + line + "also " + line + "too " + line;
    ours += "mine " + line + "same " + line + "also " + line + "too " + line;
    theirs += "new " + line + "same " + line + "also " + line + "too " + line;
  }
  const MergeResult merged = merge(ours, base, theirs);
  EXPECT_EQ(merged.kind, MergeResult::Kind::Conflict) << merged.why;
  EXPECT_EQ(conflict_lines(merged.text).size(), 300u);
  EXPECT_EQ(merge(ours, base, theirs, MergeSide::Ours).text, ours);
}

TEST(Merge, WhatNeedsNoMergeNeedsNoGit) {
  const NoGit none;
  EXPECT_EQ(merge(kBase, kBase, "new\n").text, "new\n");
  EXPECT_EQ(merge("mine\n", kBase, kBase).text, "mine\n");
  EXPECT_EQ(merge("both\n", kBase, "both\n").text, "both\n");
  const MergeResult merged = merge("mine\n", kBase, "new\n");
  EXPECT_EQ(merged.kind, MergeResult::Kind::Impossible);
  EXPECT_EQ(merged.why, "merging needs git, which is not on PATH");
}

TEST(Merge, BytesThatAreNoTextAreImpossible) {
  const MergeResult merged = merge(std::string("a\0b\n", 4), std::string("a\0\n", 3), std::string("a\0c\n", 4));
  EXPECT_EQ(merged.kind, MergeResult::Kind::Impossible);
  EXPECT_TRUE(merged.why.starts_with("git cannot merge it (")) << merged.why;
}

TEST(Merge, CrlfStaysCrlfAndIsNoChange) {
  const MergeResult merged = merge("ONE\r\ntwo\r\nthree\r\nfour\r\nfive\r\n", kBase, "one\ntwo\nthree\nfour\nFIVE\n");
  EXPECT_EQ(merged.kind, MergeResult::Kind::Clean);
  EXPECT_EQ(merged.text, "ONE\r\ntwo\r\nthree\r\nfour\r\nFIVE\r\n");
  EXPECT_EQ(merge(to_crlf(kBase), kBase, "new\n").text, "new\r\n");
}

TEST(Merge, ALastLineWithoutAnEnd) {
  EXPECT_EQ(merge("ONE\ntwo\nthree\nfour\nfive", kBase, "one\ntwo\nTHREE\nfour\nfive\n").text,
            "ONE\ntwo\nTHREE\nfour\nfive");
}

TEST(Conflicts, EachMarkerThatIsLeftIsFound) {
  EXPECT_TRUE(conflict_lines("").empty());
  // Rules under headings, and shifts, are not conflicts.
  EXPECT_TRUE(conflict_lines("Title\n=======\nx << 7\n<<<<<<<<\n").empty());
  EXPECT_EQ(conflict_lines(kMarked), std::vector<int>{2});
  EXPECT_EQ(conflict_lines("a\nmine\n||||||| last render\n=======\n"), std::vector<int>{3});
  EXPECT_EQ(conflict_lines("a\n=======\nnew\n>>>>>>> new render\n"), std::vector<int>{4});
  EXPECT_EQ(conflict_lines(std::string(kMarked) + kMarked), (std::vector<int>{2, 11}));
  EXPECT_EQ(conflict_lines(to_crlf(kMarked)), std::vector<int>{2});
}

// Nothing but the text tells that a file is in conflict, so what git's own merges leave must not.
TEST(Conflicts, OfOtherMergesAreNotOurs) {
  const std::string theirs = "<<<<<<< HEAD\nmine\n||||||| 1234567\n=======\nnew\n>>>>>>> branch\n";
  EXPECT_TRUE(conflict_lines(theirs).empty());
  EXPECT_EQ(resolve_conflicts(theirs, MergeSide::Theirs), theirs);
}

TEST(Conflicts, OneSideIsTaken) {
  EXPECT_EQ(resolve_conflicts(kMarked, MergeSide::Ours), "a\nmine\nz\n");
  EXPECT_EQ(resolve_conflicts(kMarked, MergeSide::Theirs), "a\nnew\nz\n");
  EXPECT_EQ(resolve_conflicts(kMarked, MergeSide::Markers), kMarked);
  EXPECT_EQ(resolve_conflicts(to_crlf(kMarked), MergeSide::Theirs), "a\r\nnew\r\nz\r\n");
  const std::string open = "a\n<<<<<<< yours\nmine\n=======\nnew\n";
  EXPECT_EQ(resolve_conflicts(open, MergeSide::Ours), open);
}

/// A text whose heading is underlined with `size` of a sign.
std::string headed(const char* title, char sign, std::size_t size, bool crlf) {
  const std::string text = std::string("one\n") + title + "\n" + std::string(size, sign) + "\nrest of " + title + "\n";
  return crlf ? to_crlf(text) : text;
}

// The rules differ in length, so that none is a line that the texts have in common, outside the conflict.
TEST(Conflicts, AnUnderlinedHeadingIsTextInEachPart) {
  for (const char sign : {'=', '<', '>', '|'}) {
    for (const std::size_t size : {7u, 20u}) {
      for (const std::size_t shift : {0u, 1u, 2u}) {
        for (const bool crlf : {false, true}) {
          const auto text = [&](const char* title, std::size_t part) {
            return headed(title, sign, size + (part + shift) % 3, crlf);
          };
          const std::string ours = text("Mine", 0), base = text("Was", 1), theirs = text("New", 2);
          const MergeResult merged = merge(ours, base, theirs);
          ASSERT_EQ(merged.kind, MergeResult::Kind::Conflict);
          EXPECT_EQ(conflict_lines(merged.text), std::vector<int>{2}) << merged.text;
          EXPECT_EQ(resolve_conflicts(merged.text, MergeSide::Ours), ours) << merged.text;
          EXPECT_EQ(resolve_conflicts(merged.text, MergeSide::Theirs), theirs) << merged.text;
          EXPECT_TRUE(conflict_lines(ours).empty());
        }
      }
    }
  }
}

// Texts that explain conflicts.
TEST(Conflicts, QuotedMarkersOfAnotherSizeAreText) {
  const std::string ours = "Mine\n" + std::string(kMarked), theirs = "New\n" + std::string(kMarked);
  const MergeResult merged = merge(ours, "Was\n" + std::string(kMarked), theirs);
  EXPECT_TRUE(merged.text.starts_with("<<<<<<<< yours\nMine\n|||||||| last render\n")) << merged.text;
  EXPECT_EQ(conflict_lines("<<<<<<<< yours\n" + std::string(kMarked) + "========\n>>>>>>>> new render\n"),
            std::vector<int>{1});
}

// As earlier versions wrote them: each marker has seven signs, whatever the text has.
TEST(Conflicts, OfSevenSignsAroundAHeading) {
  const std::string rule = "=======\n", end = ">>>>>>> new render\n", new_part = "New\n" + rule;
  const std::string mine = "<<<<<<< yours\nMine\n" + rule + "line 1\n||||||| last render\nwas\n" + rule;
  EXPECT_EQ(resolve_conflicts(mine + "new\n" + end, MergeSide::Ours), "Mine\n" + rule + "line 1\n");
  EXPECT_EQ(resolve_conflicts(mine + "new\n" + end, MergeSide::Theirs), "new\n");
  EXPECT_EQ(resolve_conflicts(mine + new_part + end, MergeSide::Ours), "Mine\n" + rule + "line 1\n");
  // Either rule may divide the last render from the new one: a person decides.
  EXPECT_EQ(resolve_conflicts(mine + new_part + end, MergeSide::Theirs), mine + new_part + end);
}

TEST(Conflicts, WithoutTheLastRender) {
  const std::string one = "<<<<<<< yours\nmine\n=======\nnew\n>>>>>>> new render\n";
  EXPECT_EQ(resolve_conflicts(one, MergeSide::Ours), "mine\n");
  EXPECT_EQ(resolve_conflicts(one, MergeSide::Theirs), "new\n");
  const std::string two = "<<<<<<< yours\n=======\nTitle\n=======\n>>>>>>> new render\n";
  const std::string none = "<<<<<<< yours\nmine\n>>>>>>> new render\n";
  for (const MergeSide side : {MergeSide::Ours, MergeSide::Theirs}) {
    EXPECT_EQ(resolve_conflicts(two, side), two);
    EXPECT_EQ(resolve_conflicts(none, side), none);
  }
  EXPECT_EQ(resolve_conflicts("<<<<<<< yours\nlost\n" + one, MergeSide::Ours), "<<<<<<< yours\nlost\nmine\n");
}

TEST(LineEnds, Crlf) {
  EXPECT_TRUE(is_crlf("a\r\nb\r\n"));
  EXPECT_FALSE(is_crlf("a\r\nb\n"));
  EXPECT_FALSE(is_crlf("a"));
  EXPECT_EQ(to_crlf("a\nb\r\nc"), "a\r\nb\r\nc");
}

}  // namespace
}  // namespace openreg_gen
