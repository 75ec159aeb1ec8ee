// The end of a verb that changed something: "Next:" and the commands to type in the current folder.
#pragma once

#include "system/files.h"

#include <string>
#include <vector>

namespace openreg_gen {

class Invocation;
struct Plan;

/// The word as a POSIX shell reads it.
std::string shell_quoted(const std::string& word);

class Next {
 public:
  /// For the tree that the verb worked on: the tree of -C, or the one around the current folder.
  Next(const Invocation& call, const fs::path& root);

  /// A file of the tree, as its user would write it.
  std::string file(const std::string& path) const { return (shown_ / path).lexically_normal().string(); }
  void add(std::string line) { lines_.push_back(std::move(line)); }
  void command(const std::string& verb);
  std::string install() const {
    return "python -m pip install --no-build-isolation -v -e " + shell_quoted(shown_.string() + "[test]");
  }
  /// Compiles what changed, or installs a tree that was never built.
  void build();
  /// The tests of these operators; without any, or with many, all tests.
  void test(const std::vector<std::string>& ops = {});
  /// The steps after an applied plan: conflicts to resolve, kernels to write, build, tests of `ops`.
  void after(const Plan& plan, const std::vector<std::string>& ops);

  const std::vector<std::string>& lines() const { return lines_; }
  /// "\nNext:\n  ..."; empty if there is nothing to do.
  std::string text() const;

 private:
  fs::path root_, shown_;
  std::string folder_;
  std::vector<std::string> lines_;
};

}  // namespace openreg_gen
