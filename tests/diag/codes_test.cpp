#include "diag/codes.h"
#include "files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = fs::path(TESTS_DIR).parent_path();

/// The codes that are named in the files below `folder` with one of these extensions.
std::set<std::string> codes_in(const fs::path& folder, const std::set<std::string>& extensions) {
  static const std::regex code("E0[1-6][0-9][0-9]");
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || !extensions.contains(entry.path().extension().string())) continue;
    const std::string text = read_file(entry.path());
    for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) found.insert(i->str());
  }
  return found;
}

TEST(Codes, AreSortedUniqueAndExplained) {
  for (std::size_t i = 0; i < all_codes().size(); ++i) {
    const Code& code = all_codes()[i];
    if (i > 0) {
      EXPECT_LT(all_codes()[i - 1].code, code.code);
    }
    EXPECT_FALSE(code.title.empty()) << code.code;
    EXPECT_TRUE(code.explanation.ends_with('.')) << code.code;
    EXPECT_EQ(find_code(code.code), &code);
  }
  EXPECT_EQ(find_code("E9999"), nullptr);
}

TEST(Codes, TheCommandUsesNoneButTheTables) {
  std::set<std::string> used;
  for (const auto part : {"spec", "catalog", "strategy", "resolve", "edit", "model", "render", "tree", "cli"})
    used.merge(codes_in(kRoot / "generator" / part, {".cpp"}));
  for (const auto& code : used) EXPECT_NE(find_code(code), nullptr) << code << " is used, but not in diag/codes.cpp";
}

TEST(Codes, EachOfTheSpecsIsPinnedByATest) {
  const auto tested = codes_in(TESTS_DIR, {".txt", ".cpp", ".py"});
  for (const Code& code : all_codes()) {
    const bool of_specs = code.code < "E0400" || code.code == "E0404";
    EXPECT_TRUE(!of_specs || tested.contains(std::string(code.code))) << code.code << " is in no test";
  }
}

TEST(Codes, TheReferencePageIsUpToDate) {
  const fs::path page = kRoot / "docs/reference/diagnostics.md";
  const bool same = read_file(page) == codes_markdown();
  if (!same && std::getenv("OPENREG_GEN_UPDATE") != nullptr) std::ofstream(page, std::ios::binary) << codes_markdown();
  EXPECT_TRUE(same) << page << " is stale; OPENREG_GEN_UPDATE=1 rewrites it";
}

}  // namespace
}  // namespace openreg_gen
