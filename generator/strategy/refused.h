// What a tree refuses, though it fits the operator.
#pragma once

#include "strategy/fit.h"

#include <string>

namespace openreg_gen {

/// Why a tree with this spec refuses the strategy for the operator; empty if it doesn't.
std::string refused_by(const Spec& spec, const Strategy& strategy, const Op& op);

}  // namespace openreg_gen
