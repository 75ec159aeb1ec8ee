// Diagnostics as text for a terminal and as JSON for tools.
#pragma once

#include "diag/diagnostic.h"

#include <string>

namespace openreg_gen {

/// `spec.yaml:12:9: error[E0201]: unknown op ...`, the source line with a caret, the hint; a blank line between
/// diagnostics. With `colour`, ANSI escapes. Control characters of the source are shown as '?', tabs as one blank.
std::string render_text(const Diagnostics& diagnostics, bool colour);

/// {"diagnostics":[{"code","severity","message","file","line","column","hint"}]}, one line, without newline.
/// Bytes that are not UTF-8 become U+FFFD.
std::string render_json(const Diagnostics& diagnostics);

/// True if `descriptor` is a terminal, NO_COLOR is unset or empty, and TERM is not "dumb".
bool colour_wanted(int descriptor);

}  // namespace openreg_gen
