// Every file of tests/bad_specs through the parser and the catalogue's checks, compared with its .expected file:
// a line `line:col code message` per diagnostic, in order. OPENREG_GEN_UPDATE=1 rewrites them, and still fails.
#include "catalog/catalog.h"
#include "spec/spec.h"
#include "support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus() {
  std::vector<fs::path> specs;
  for (const auto& entry : fs::directory_iterator(fs::path(TESTS_DIR) / "bad_specs")) {
    if (entry.path().extension() != ".expected") specs.push_back(entry.path());
  }
  std::ranges::sort(specs);
  return specs;
}

class BadSpec : public testing::TestWithParam<fs::path> {};

TEST_P(BadSpec, GivesItsDiagnostics) {
  Diagnostics diagnostics;
  Spec spec = parse_spec(GetParam(), diagnostics);
  validate_spec(spec, catalog(), diagnostics);
  std::string found;
  for (const auto& d : diagnostics.all()) {
    found += fmt::format("{}:{} {} {}\n", d.at.line, d.at.column, d.code, d.message);
    EXPECT_EQ(d.at.file, GetParam().string());
    EXPECT_EQ(d.message.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(diagnostics.has_errors());
  const fs::path expected = GetParam().string() + ".expected";
  if (std::getenv("OPENREG_GEN_UPDATE") != nullptr && read_file(expected) != found) {
    const std::string before = read_file(expected);
    std::ofstream(expected, std::ios::binary) << found;
    FAIL() << "rewrote " << expected << ", which was:\n" << before;
  }
  EXPECT_EQ(found, read_file(expected));
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadSpec, testing::ValuesIn(corpus()), [](const auto& param) {
  std::string name = param.param.filename().string();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(BadSpecs, AreMany) { EXPECT_GE(corpus().size(), 60u); }

}  // namespace
}  // namespace openreg_gen
