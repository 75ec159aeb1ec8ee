// For which releases of PyTorch an operator is registered.
#pragma once

#include "spec/spec.h"
#include "strategy/item.h"

namespace openreg_gen {

/// Of the releases that the spec is for, those from `since` to `until` (empty: no bound) that declare the operator.
ReleaseGuard release_guard(std::string_view op, const Spec& spec, std::string_view since = {},
                           std::string_view until = {});

}  // namespace openreg_gen
