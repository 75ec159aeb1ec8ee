// Turns the selections in `ops:` into operators, before anything else looks at them.
//
// The rules, in the order of their weight:
// - A selection takes the operators that need a kernel (they have no default) and that fit its strategy; its other
//   matches are left out, and listed with the reason. A form that a structured out form serves means that out form.
// - A bare name (`add`) is the overload without a name, if there is one that fits the strategy; otherwise it selects
//   all overloads.
// - An entry that names an operator overrides a bare name that stands for several, which overrides globs and sets;
// among
//   those, later entries override earlier ones.
// - A minus removes operators from all selections, wherever it is.
// - An entry outside its `since`..`until` is ignored.
#pragma once

#include "resolve/resolve.h"
#include "spec/selector.h"

#include <optional>
#include <vector>

namespace openreg_gen {

/// False if the entry's `since` or `until` excludes this PyTorch. A PyTorch of unknown version is included.
bool in_release_range(const OpSpec& entry, const Catalog& catalog);

/// The operators that a selection matches, before strategies are considered, sorted by name. Nothing after an error at
/// `at` (no match, unknown tag, a list that cannot be read). A list's text is added to resolved.lists.
std::optional<std::vector<const Op*>> match_selector(const Selector& selector, const Location& at,
                                                     ResolvedSpec& resolved, Diagnostics& diagnostics);

/// A glob without a dot is matched with base names, one with a dot with names; `add.*` matches the overload without a
/// name too.
bool matches_glob(const Op& op, const std::string& glob);

}  // namespace openreg_gen
