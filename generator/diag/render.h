// Diagnostics as text for a terminal and as JSON for tools.
#pragma once

#include "diag/diagnostic.h"

#include <nlohmann/json.hpp>

#include <string>

namespace openreg_gen {

/// `spec.yaml:12:9: error[E0201]: unknown op ...`, the source line with a caret, the hint; a blank line between
/// diagnostics. With `colour`, ANSI escapes. Control characters of the source are shown as '?', tabs as one blank.
std::string render_text(const Diagnostics& diagnostics, bool colour);

/// The key "schema_version" of all JSON: increases when a key is renamed, removed or changes its meaning, as
/// docs/reference/diagnostics.md promises.
inline constexpr int kJsonVersion = 1;

/// [{"code","severity","message","file","line","column","hint"}]; file, line and column are null where there is none.
nlohmann::ordered_json diagnostics_json(const Diagnostics& diagnostics);

/// A workflow command of GitHub Actions, which shows the message at its place in a change:
/// "::error file=spec.yaml,line=2,col=3,title=E0112::unknown key". `column` and `line` 0, and an empty file: not known.
std::string github_annotation(Severity severity, const Location& at, std::string_view title, std::string_view message);

/// True if `descriptor` is a terminal, NO_COLOR is unset or empty, and TERM is not "dumb".
bool colour_wanted(int descriptor);

}  // namespace openreg_gen
