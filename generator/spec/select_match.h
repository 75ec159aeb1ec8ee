// Which operators a selection matches, before anything is said of strategies.
#pragma once

#include "catalog/catalog.h"
#include "spec/selector.h"
#include "spec/spec.h"

#include <optional>
#include <vector>

namespace openreg_gen {

/// Sorted by name. Nothing after an error at `at` (no match, unknown tag, a list that cannot be read). A list's text is
/// added to spec.lists.
std::optional<std::vector<const Op*>> match_selector(const Selector& selector, const Location& at, Spec& spec,
                                                     const Catalog& catalog, Diagnostics& diagnostics);

/// A glob without a dot is matched with base names, one with a dot with names; `add.*` matches the overload without a
/// name, too.
bool matches_glob(const Op& op, const std::string& glob);

}  // namespace openreg_gen
