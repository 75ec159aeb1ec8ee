// Registrations that hold for some of the releases of PyTorch that a spec is for.
#pragma once

#include "spec/spec.h"
#include "strategy/item.h"

#include <string_view>

namespace openreg_gen {

/// Of the releases that the spec is for, those from `since` to `until` (empty: no bound) that declare the operator.
ReleaseGuard release_guard(std::string_view op, const Spec& spec, std::string_view since = {},
                           std::string_view until = {});

}  // namespace openreg_gen
