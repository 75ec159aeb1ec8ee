// The spec of the tree in which a verb is typed that also works outside of trees.
#pragma once

#include "cli/invocation.h"

#include <optional>

namespace openreg_gen {

/// Of the tree around -C or the current folder; none outside of trees, if there is no -C.
std::optional<Spec> spec_around(const Invocation& call);

}  // namespace openreg_gen
