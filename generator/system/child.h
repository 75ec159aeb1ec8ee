// Programs and child processes. POSIX.
#pragma once

#include "system/files.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace openreg_gen {

inline constexpr const char* kHung = "E0609";

/// With pipes on its three streams. Not thread-safe.
class Child {
 public:
  /// Starts argv[0] (a path; no shell, no search). Throws Failure(Environment, E0605) if it cannot be started.
  explicit Child(const std::vector<std::string>& argv);
  /// Kills a child that still runs.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  struct Result {
    std::string output, errors;
    int status = 0;  // as waitpid gives it
  };
  /// Writes `input`, reads both outputs to their end, waits. Once only. Throws Failure(Environment, kHung) if that
  /// takes longer than OPENREG_GEN_CHILD_SECONDS, or ten minutes; the child is killed with the object.
  Result talk(const std::string& input);

 private:
  int wait();
  std::string command_;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
};

/// Runs argv[0] (a path) in `folder`, with this process's own streams. The exit code; of one that a signal ended, 128
/// and the signal. Throws Failure(Environment, E0605) if it cannot be started.
int run_program(const fs::path& folder, const std::vector<std::string>& argv);

/// A file that may be executed.
bool is_program(const fs::path& path);
/// The programs `name` in the folders of $PATH, not resolved, in their order.
std::vector<fs::path> find_programs(const std::string& name);
/// The first of them; empty if there is none.
fs::path find_program(const std::string& name);

/// What a command prints to stdout; empty if it cannot be started or fails. Never through a shell. Throws kHung.
std::string output_of(std::vector<std::string> command);

}  // namespace openreg_gen
