// Which other forms of an operator end in the kernel that a backend registers for it.
#pragma once

#include "catalog/catalog.h"

#include <string>
#include <vector>

namespace openreg_gen {

/// Names of `op`'s variants that PyTorch's own kernels make of it, sorted: the functional and in-place forms of a
/// structured out form, and forms with a composite kernel (`abs` calls `abs.out`; `zeros.out` calls `zeros`). A form
/// of another structured operator is none, though it has a default: that one ends in the structured out form.
std::vector<std::string> served_forms(const Op& op, const Catalog& catalog);

}  // namespace openreg_gen
