// Patterns of .openreg-gen/ignore.
#include "tree/ignore.h"

#include "diag/failure.h"
#include "memory_disk.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

TEST(Glob, StarsStayWithinANameAndTwoCrossFolders) {
  struct Case {
    const char *glob, *path;
    bool matches;
  };
  constexpr Case kCases[] = {
      {"a.cpp", "a.cpp", true},
      {"a.cpp", "d/a.cpp", false},
      {"a", "a/b", false},
      {"*.cpp", "a.cpp", true},
      {"*.cpp", "d/a.cpp", false},
      {"*", "", true},
      {"tests/*/x", "tests/cpp/x", true},
      {"tests/*/x", "tests/x", false},
      {"tests/*/x", "tests/a/b/x", false},
      {"**/*.md", "README.md", true},
      {"**/*.md", "docs/a/b.md", true},
      {"**/*.md", "docs/md", false},
      {"docs/**", "docs/a/b.md", true},
      {"docs/**", "docs2/a", false},
      {"a/**/b", "a/b", true},
      {"a/**/b", "a/x/y/b", true},
      {"a/**/b", "axb", false},
      {"?.cpp", "a.cpp", true},
      {"?.cpp", "ab.cpp", false},
      {"d?a", "d/a", false},
      {"[a-c].h", "b.h", true},
      {"[a-c].h", "d.h", false},
      {"[!a-c].h", "d.h", true},
      {"[^a-c].h", "a.h", false},
      {"[]x].h", "].h", true},
      {"[a-].h", "-.h", true},
      {"a[**]b", "a*b", true},
      {"a[**]b", "axxb", false},
      {"a*/**/b*/c", "ax/1/2/by/c", true},
      {"a*/**/b*/c", "ax/by/c", true},
      {"a*/**/b*/c", "ax/by/z/c", false},
      {"d[/]a", "d/a", false},
      {"d[!x]a", "d/a", false},
      {"*a*b*", "xaxbx", true},
      {"*a*b*", "xbxax", false},
      {"abs.out", "absxout", false},
  };
  for (const Case& one : kCases)
    EXPECT_EQ(glob_matches(one.glob, one.path), one.matches) << one.glob << " " << one.path;
}

TEST(Ignore, CommentsBlankLinesAndFolders) {
  const Ignore ignore("# not ours\n\n  tests/cpp/  \r\n*.md\nlast");
  ASSERT_EQ(ignore.patterns().size(), 3u);
  EXPECT_EQ(ignore.patterns()[0].line, 3);
  EXPECT_EQ(ignore.patterns()[2].line, 5);
  EXPECT_TRUE(ignore.matches("tests/cpp/a/b.cpp"));
  EXPECT_TRUE(ignore.matches("README.md"));
  EXPECT_TRUE(ignore.matches("last"));
  EXPECT_FALSE(ignore.matches("tests/cpp"));
  EXPECT_FALSE(ignore.matches("docs/README.md"));
  EXPECT_FALSE(Ignore().matches("a"));
}

TEST(Ignore, APatternThatNoPathCanMatchIsNamedWithItsLine) {
  for (const char* line : {"/abs", "a/../b", "../a", "!a", "a[b", "[]", "a\\b", "a//b", "./a", ".openreg-gen/x",
                           ".openreg-gen/", ".openreg-gen"}) {
    try {
      const Ignore ignore("# first\n" + std::string(line) + "\n");
      ADD_FAILURE() << line << " was taken";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), "E0520") << line;
      EXPECT_TRUE(std::string(failure.what()).starts_with(".openreg-gen/ignore:2: ")) << failure.what();
    }
  }
}

TEST(Ignore, TheFileOfATree) {
  MemoryDisk disk;
  EXPECT_TRUE(read_ignore(disk).patterns().empty());
  disk.files[std::string(kIgnore)] = "*.md\n";
  EXPECT_TRUE(read_ignore(disk).matches("README.md"));
  disk.files.clear();
  disk.others[std::string(kIgnore)] = FileKind::Folder;
  EXPECT_THROW(read_ignore(disk), Failure);
  disk.outside.insert(std::string(kIgnore));
  EXPECT_THROW(read_ignore(disk), Failure);
}

}  // namespace
}  // namespace openreg_gen
