#include "cli/answer.h"

#include "diag/failure.h"

#include <cstdio>

namespace openreg_gen {

void print_text(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void check_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw Failure(Exit::Environment, "E0513", "standard output did not take all that was printed");
  }
}

}  // namespace openreg_gen
