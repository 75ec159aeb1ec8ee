// What the entries of `ops:` stand for: selections become operators, before anything else looks at them.
//
// The rules, in the order of their weight:
// - A selection takes the operators that need a kernel (they have no default) and that its strategy fits; the rest of
//   what it matches is left out, and listed with the reason. A form that a structured out form serves stands for that
//   one.
// - A bare name (`add`) is the overload without a name, where there is one that the strategy fits; else a selection of
//   all its overloads.
// - An entry that names an operator goes before a bare name that stands for several, that before globs and sets; of
//   those, what comes later in the spec goes before what came earlier.
// - A minus takes out of what selections bring, wherever it stands.
// - An entry out of its `since`..`until` is as if it were not there.
#pragma once

#include "resolve/resolve.h"
#include "spec/selector.h"

#include <optional>
#include <vector>

namespace openreg_gen {

/// False if the entry's `since` or `until` leaves this PyTorch out. A PyTorch that does not say its version fits.
bool in_release_range(const OpSpec& entry, const Catalog& catalog);

/// The operators that a selection matches, before strategies are considered, sorted by name. Nothing after an error at
/// `at` (no match, unknown tag, a list that cannot be read). A list's text is added to resolved.lists.
std::optional<std::vector<const Op*>> match_selector(const Selector& selector, const Location& at, Resolved& resolved,
                                                     Diagnostics& diagnostics);

/// A glob without a dot is matched with base names, one with a dot with names; `add.*` matches the overload without a
/// name, too.
bool matches_glob(const Op& op, const std::string& glob);

}  // namespace openreg_gen
