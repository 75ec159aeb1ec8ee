// A child process with pipes on its three streams. POSIX. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace openreg_gen {

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
  /// Writes `input`, reads both outputs to their end, waits. Once only.
  Result talk(const std::string& input);

 private:
  int wait();
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
};

}  // namespace openreg_gen
