#include "cli/next.h"

#include "cli/invocation.h"
#include "base/text.h"
#include "tree/plan.h"

#include <fmt/ranges.h>

namespace openreg_gen {

std::string shell_quoted(const std::string& word) {
  const auto plain = [](char c) { return is_word(c) || contains(std::string_view("-./+,"), c); };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string quoted = word;
  replace_all(quoted, "'", "'\\''");
  return "'" + quoted + "'";
}

Next::Next(const Invocation& call, const fs::path& root)
    : root_(root), shown_(fs::proximate(root)), folder_(call.folder) {
  if (!folder_.empty()) shown_ = (fs::path(folder_) / fs::proximate(root, folder_)).lexically_normal();
  if (!shown_.has_filename()) shown_ = shown_.parent_path();  // "tree/."
}

void Next::command(const std::string& verb) {
  add("openreg-gen " + verb + (folder_.empty() ? "" : " -C " + shell_quoted(folder_)));
}

void Next::build() {
  std::error_code error;
  const bool built = fs::exists(root_ / "build" / "CMakeCache.txt", error);
  add(built ? "cmake --build " + shell_quoted(file("build")) : install());
}

void Next::test(const std::vector<std::string>& ops) {
  constexpr std::size_t kMost = 6;
  command(ops.empty() || ops.size() > kMost ? "test"
                                            : fmt::format("test {}", fmt::join(mapped(ops, shell_quoted), " ")));
}

void Next::after(const Plan& plan, const std::vector<std::string>& ops) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> conflicts, kernels;
  bool rendered = false, outdated = false;
  for (const Step& step : plan.steps) {
    rendered |= step.writes();
    for (const int line : step.lines) conflicts.push_back(fmt::format("{}:{}", file(step.path), line));
    if (step.signature_change && step.signature_change->read) {
      outdated = true;
      kernels.push_back(fmt::format("{}:{}", file(step.path), step.signature_change->line));
    }
    if (step.file_class == FileClass::Owned && step.action() == Action::Create && step.path.starts_with("csrc/aten/"))
      kernels.push_back(file(step.path));
  }
  for (auto* places : {&conflicts, &kernels}) {
    if (places->size() > kMost) {
      const std::size_t more = places->size() - kMost;
      places->resize(kMost);
      places->back() += fmt::format(", and {} more", more);
    }
  }
  for (const std::string& place : conflicts) add("resolve the conflict in " + place);
  if (!conflicts.empty()) return command("generate");
  if (outdated) command("migrate");
  for (const std::string& place : kernels) add("edit " + place);
  if (!rendered) return;
  build();
  test(ops);
}

std::string Next::text() const {
  return lines_.empty() ? "" : fmt::format("\nNext:\n  {}\n", fmt::join(lines_, "\n  "));
}

}  // namespace openreg_gen
