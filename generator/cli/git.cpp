#include "cli/git.h"

#include "cli/next.h"
#include "system/child.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <vector>

namespace openreg_gen {

fs::path repository_around(const fs::path& folder) {
  std::error_code error;
  fs::path at = fs::weakly_canonical(fs::absolute(folder, error), error);
  for (; !at.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) return at;  // a folder; a file in a worktree
    if (at == at.root_path()) break;
  }
  return {};
}

std::string start_repository(const fs::path& git, const fs::path& root, const std::string& message) {
  const std::vector<std::vector<std::string>> steps{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", message}};
  for (const auto& step : steps) {
    std::vector<std::string> argv{git.string(), "-C", root.string()};
    argv.insert(argv.end(), step.begin(), step.end());
    const Child::Result result = Child(argv).talk({});
    if (WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0) continue;
    std::string why = result.errors.substr(0, result.errors.find_last_not_of('\n') + 1);
    why.erase(0, why.rfind('\n') + 1);  // git gives advice first, and the reason last
    return why.empty() ? fmt::format("git {} failed", step.front()) : why;
  }
  return {};
}

std::string repository_command(const std::string& root, const std::string& message) {
  const std::string tree = shell_quoted(root);
  return fmt::format("git init -q {0} && git -C {0} add -A && git -C {0} commit -q -m {1}", tree,
                     shell_quoted(message));
}

}  // namespace openreg_gen
