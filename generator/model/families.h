// What an operator is about: families for totals and for people, by name, tags and class.
#pragma once

#include "catalog/catalog.h"

#include <span>
#include <string_view>

namespace openreg_gen {

/// In the order in which they are shown.
std::span<const std::string_view> all_families();
/// One of all_families(). Forms of one group (functional, in-place, out) have the same.
std::string_view family_of(const Op& op, const Catalog& catalog);

}  // namespace openreg_gen
