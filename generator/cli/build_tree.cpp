#include "cli/build_tree.h"

#include "base/text.h"
#include "system/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace openreg_gen {
namespace {

/// A variable of CMakeCache.txt: "Python_EXECUTABLE" -> "/usr/bin/python3".
std::string cached(std::string_view cache, const std::string& name) {
  for (const std::string_view line : split_lines(cache))
    if (line.starts_with(name + ":")) return std::string(line.substr(std::min(line.find('='), line.size() - 1) + 1));
  return {};
}

/// The lock of a tree's builds: two at once write over each other's files. pip takes it, too (setup.py of the tree).
/// Programs that are started don't inherit it: a compiler cache may leave a server running, which would hold it.
class BuildLock {
 public:
  /// Waits for another build, and says so.
  explicit BuildLock(const fs::path& folder)
      : fd_(open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ < 0 || flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    fmt::print(stderr, "another build runs in {}: waiting for its end\n", folder.string());
    while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~BuildLock() {
    if (fd_ >= 0) close(fd_);
  }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  int fd_;
};

}  // namespace

bool BuildPrograms::exist() const { return is_program(python) && is_program(cmake); }

BuildPrograms build_programs(const OpenTree& tree) {
  const std::string cache = try_read_file(tree.root / "build" / "CMakeCache.txt").value_or("");
  return {cached(cache, "Python_EXECUTABLE"), cached(cache, "CMAKE_COMMAND"), !cache.empty()};
}

void build_tree(const OpenTree& tree, const BuildPrograms& programs) {
  const BuildLock lock(tree.root / "build");
  if (run_program(tree.root, {programs.cmake, "--build", "build"}) != 0)
    throw Failure(Exit::No, "E0558", "the build failed", "the compiler's messages are above");
}

}  // namespace openreg_gen
