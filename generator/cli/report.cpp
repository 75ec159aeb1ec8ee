#include "cli/report.h"

#include "diag/render.h"

#include <cstdio>
#include <unistd.h>

namespace openreg_gen {

bool report(const Diagnostics& diagnostics, bool json) {
  const bool errors = diagnostics.has_errors();
  if (!json) {
    std::fputs(render_text(diagnostics, colour_wanted(STDERR_FILENO)).c_str(), stderr);
  } else if (errors) {
    std::puts(render_json(diagnostics).c_str());
  }
  return errors;
}

}  // namespace openreg_gen
