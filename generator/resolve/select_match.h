// Which operators a selection matches, before strategies are considered.
#pragma once

#include "resolve/resolve.h"
#include "spec/selector.h"

#include <optional>
#include <vector>

namespace openreg_gen {

/// Sorted by name. Nothing after an error at `at` (no match, unknown tag, a list that cannot be read). A list's text is
/// added to resolved.lists.
std::optional<std::vector<const Op*>> match_selector(const Selector& selector, const Location& at, Resolved& resolved,
                                                     Diagnostics& diagnostics);

/// A glob without a dot is matched with base names, one with a dot with names; `add.*` matches the overload without a
/// name, too.
bool matches_glob(const Op& op, const std::string& glob);

}  // namespace openreg_gen
