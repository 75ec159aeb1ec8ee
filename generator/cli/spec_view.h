// The operators of a spec, and what its selections came to, as text and as JSON. Pure; for a spec without errors.
#pragma once

#include "resolve/resolve.h"

#include <nlohmann/json.hpp>

#include <string>

namespace openreg_gen {

/// A line a selection: "  12: '@core' (native): 96 operators, 43 left out"; with `all`, each operator, and why one is
/// left. Empty if the spec has no selection.
std::string selections_text(const Resolved& resolved, bool all);
/// [{"entry","line","column","strategy","ops":[...],"left":[{"op","reason"}]}]
nlohmann::ordered_json selections_json(const Resolved& resolved);

/// Operator, strategy, place and the entry that brought it.
std::string spec_ops_table(const Resolved& resolved, std::size_t width);
/// [{"op","strategy","class","entry","line","column"}]: "entry" is the operator's own name or the selection.
nlohmann::ordered_json spec_ops_json(const Resolved& resolved);

}  // namespace openreg_gen
