// Failures that end a run, with the exit code they end it with. main() turns them into text and a code.
#pragma once

#include <stdexcept>
#include <string>

namespace openreg_gen {

/// 0 done, 1 a check failed (stale, drifted, edited), 2 bad input, 3 the environment, 4 a bug in openreg-gen.
enum class Exit { Done = 0, No = 1, BadInput = 2, Environment = 3, Internal = 4 };

/// Thrown where there is no list of diagnostics: a missing PyTorch, a full disk, a wrong template.
class Failure : public std::runtime_error {
 public:
  Failure(Exit exit, std::string code, std::string message, std::string hint = {})
      : std::runtime_error(std::move(message)), exit_(exit), code_(std::move(code)), hint_(std::move(hint)) {}
  Exit exit() const { return exit_; }
  const std::string& code() const { return code_; }
  const std::string& hint() const { return hint_; }

 private:
  Exit exit_;
  std::string code_;
  std::string hint_;
};

}  // namespace openreg_gen
