#include "tree/paths.h"

#include "diag/failure.h"

#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

std::string code_of(const std::vector<std::string>& paths) {
  try {
    check_paths(paths);
    return {};
  } catch (const Failure& failure) {
    return failure.code();
  }
}

TEST(Paths, InsideTheTreeAreFine) { EXPECT_EQ(code_of({"a.h", "a/b.h", ".gitignore", "a..b/..c", "A/c.h"}), ""); }

TEST(Paths, ThatLeadOutAreRefused) {
  for (const char* path :
       {"", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "a//b", "./a", "a/", "a\\b", "a\nb", "a\x7f"}) {
    EXPECT_EQ(code_of({path}), "E0504") << path;
  }
}

TEST(Paths, OfTheToolsOwnStateAreRefused) {
  EXPECT_EQ(code_of({".openreg-gen/manifest.json"}), "E0504");
  EXPECT_EQ(code_of({".OpenReg-Gen/x"}), "E0504");
}

TEST(Paths, ThatClashAreRefused) {
  EXPECT_EQ(code_of({"a.h", "a.h"}), "E0505");
  EXPECT_EQ(code_of({"a/Event.h", "a/event.h"}), "E0505");
  EXPECT_EQ(code_of({"a/b/c.h", "A"}), "E0505");
}

TEST(Paths, FolderOf) {
  EXPECT_EQ(folder_of("a/b/c.h"), "a/b");
  EXPECT_EQ(folder_of("c.h"), "");
}

}  // namespace
}  // namespace openreg_gen
