#include "tree/diff.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace openreg_gen {
namespace {

std::string diff(const std::string& a, const std::string& b) { return unified_diff(a, b, "a/f", "b/f", false); }

TEST(Diff, EqualTextsHaveNone) {
  EXPECT_EQ(diff("x\n", "x\n"), "");
  EXPECT_EQ(diff("", ""), "");
}

TEST(Diff, ShowsAChangeInItsContext) {
  EXPECT_EQ(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(Diff, FromAndToNothing) {
  EXPECT_EQ(diff("", "1\n2\n"), "--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+1\n+2\n");
  EXPECT_EQ(diff("1\n", ""), "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-1\n");
}

TEST(Diff, SaysThatTheLastLineHasNoEnd) {
  EXPECT_EQ(diff("x", "x\n"), "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
}

TEST(Diff, FarChangesAreHunksOfTheirOwn) {
  std::string a, b;
  for (int i = 0; i < 30; ++i) a += std::to_string(i) + "\n", b += (i == 3 || i == 25 ? "x" : std::to_string(i)) + "\n";
  const std::string text = diff(a, b);
  EXPECT_NE(text.find("@@ -1,7 +1,7 @@"), std::string::npos) << text;
  EXPECT_NE(text.find("@@ -23,7 +23,7 @@"), std::string::npos) << text;
}

TEST(Diff, ControlCharactersDoNotReachATerminal) {
  const std::string text = unified_diff("", "a\x1b[2Jb\n", "/dev/null", "b/f", true);
  EXPECT_NE(text.find("\x1b[32m+a?[2Jb\x1b[0m"), std::string::npos) << text;
}

TEST(Diff, TextsWithoutACommonLineAreReplacedWhole) {
  std::string a, b;
  for (int i = 0; i < 5000; ++i) a += "a" + std::to_string(i) + "\n", b += "b" + std::to_string(i) + "\n";
  EXPECT_TRUE(diff(a, b).starts_with("--- a/f\n+++ b/f\n@@ -1,5000 +1,5000 @@\n"));
}

// patch(1) is the judge: it turns one text into the other.
TEST(Diff, PatchAcceptsIt) {
  if (std::system("command -v patch >/dev/null 2>&1") != 0) GTEST_SKIP() << "patch(1) is not installed";
  std::string pattern = testing::TempDir() + "openreg_gen_diff_XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path folder = pattern;
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    std::string a, b;
    for (int i = 0; i < 40; ++i) {
      const std::string line = std::to_string(random() % 7) + "\n";
      if (random() % 8) a += line;
      if (random() % 8) b += line;
    }
    std::ofstream(folder / "f") << a;
    std::ofstream(folder / "d") << diff(a, b);
    const std::string command = "cd '" + folder.string() + "' && { [ ! -s d ] || patch -s -p1 f d; }";
    ASSERT_EQ(std::system(command.c_str()), 0) << a << "---\n" << b << "---\n" << diff(a, b);
    std::ifstream in(folder / "f");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), b);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace openreg_gen
