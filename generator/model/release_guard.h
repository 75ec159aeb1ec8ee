// One tree may span releases of PyTorch: what guards an operator that not all of them have.
#pragma once

#include "spec/spec.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace openreg_gen {

/// Sets in an operator's item what guards it, both empty if each release of the spec's range has it: `when`, the
/// condition of an #if ("OPENREG_TORCH_RELEASE >= 214"), and `releases`, the first and the last as Python has them.
/// An entry's `since` and `until` narrow the range, and what PyTorch declares narrows it further.
void guard_release(nlohmann::json& item, const Spec& spec, std::string_view since = {}, std::string_view until = {});

}  // namespace openreg_gen
