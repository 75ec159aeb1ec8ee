// Specs that are wrong, in tests/bad_specs/*.txt, through the parser and the catalogue's checks. A case of such a file:
//
//   === NAME                what it is called, and the name of the file that it is written to before it is read
//   (the spec)
//   --- expected
//   (a line `line:col code` per diagnostic, in order)
//   (an empty line)
//
// After `=== NAME as bytes` line breaks count for nothing, and \n, \\ and \xNN are bytes. tests/messages.txt has the
// words of all of them, by code: no other test should pin a sentence. OPENREG_GEN_UPDATE=1 rewrites what is expected,
// and still fails.
#include "catalog/catalog.h"
#include "resolve/resolve.h"
#include "support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace openreg_gen {
namespace {

namespace fs = std::filesystem;

struct Case {
  fs::path file;
  std::string name;
  std::string spec;
  std::string expected;
};

constexpr std::string_view kCase = "=== ";
constexpr std::string_view kAsBytes = " as bytes";
constexpr std::string_view kExpected = "--- expected";

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (text.at(++i) == 'x') {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == 'n' ? '\n' : text[i];
    }
  }
  return out;
}

std::vector<Case> cases_of(const fs::path& file) {
  std::vector<Case> out;
  std::istringstream lines(read_file(file));
  bool bytes = false;
  bool expected = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kCase)) {
      bytes = line.ends_with(kAsBytes);
      expected = false;
      const size_t end = line.size() - (bytes ? kAsBytes.size() : 0);
      out.push_back({file, line.substr(kCase.size(), end - kCase.size()), "", ""});
    } else if (line == kExpected) {
      expected = true;
    } else if (out.empty() || (expected && line.empty())) {
      continue;  // what the file says about itself, and what ends a case
    } else if (expected) {
      out.back().expected += line + "\n";
    } else {
      out.back().spec += bytes ? unescaped(line) : line + "\n";
    }
  }
  return out;
}

std::vector<Case> corpus() {
  std::vector<Case> out;
  for (const auto& entry : fs::directory_iterator(fs::path(TESTS_DIR) / "bad_specs")) {
    for (Case& one : cases_of(entry.path())) out.push_back(std::move(one));
  }
  std::ranges::sort(out, {}, &Case::name);
  return out;
}

void rewrite(const Case& one, const std::string& found) {
  std::string text = read_file(one.file);
  const size_t begin = text.find(fmt::format("\n{}{}", kCase, one.name));
  const size_t expected = text.find(fmt::format("\n{}\n", kExpected), begin) + kExpected.size() + 2;
  text.replace(expected, one.expected.size(), found);
  std::ofstream(one.file, std::ios::binary) << text;
}

bool updating() { return std::getenv("OPENREG_GEN_UPDATE") != nullptr; }

std::vector<Diagnostic> diagnostics_of(const Case& one) {
  const TempDir folder;
  const fs::path path = folder.write(one.name, one.spec);
  Diagnostics diagnostics;
  resolve(parse_spec(path, diagnostics), installed(), diagnostics);
  EXPECT_TRUE(diagnostics.has_errors());
  for (const Diagnostic& d : diagnostics.all()) EXPECT_EQ(d.at.file, path.string());
  return {diagnostics.all().begin(), diagnostics.all().end()};
}

class BadSpec : public testing::TestWithParam<Case> {};

TEST_P(BadSpec, GivesItsDiagnostics) {
  std::string found;
  for (const Diagnostic& d : diagnostics_of(GetParam()))
    found += fmt::format("{}:{} {}\n", d.at.line, d.at.column, d.code);
  EXPECT_EQ(found, GetParam().expected);
  if (updating() && GetParam().expected != found) rewrite(GetParam(), found);
}

TEST(BadSpecs, SayWhatTheFileOfMessagesSays) {
  std::multimap<std::string, std::string, std::less<>> by_code;
  for (const Case& one : corpus()) {
    for (const Diagnostic& d : diagnostics_of(one)) {
      EXPECT_EQ(d.message.find('\n'), std::string::npos) << d.message;
      std::string hint = d.hint;  // of several lines where it shows what to write
      for (size_t at = 0; (at = hint.find('\n', at)) != std::string::npos; at += 5) hint.replace(at, 1, "\n    ");
      by_code.emplace(d.code, fmt::format("{} {}: {}\n{}", d.code, fs::path(one.name).stem().string(), d.message,
                                          hint.empty() ? "" : fmt::format("    {}\n", hint)));
    }
  }
  std::string found;
  for (const auto& [code, text] : by_code) found += text;
  const fs::path path = fs::path(TESTS_DIR) / "messages.txt";
  const bool same = found == read_file(path);
  if (updating() && !same) std::ofstream(path, std::ios::binary) << found;
  EXPECT_TRUE(same) << "messages have other words; OPENREG_GEN_UPDATE=1 rewrites tests/messages.txt";
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadSpec, testing::ValuesIn(corpus()), [](const auto& param) {
  std::string name = param.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(BadSpecs, AreMany) { EXPECT_GE(corpus().size(), 257u); }

}  // namespace
}  // namespace openreg_gen
