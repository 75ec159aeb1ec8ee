// Turns a shipped spec into the spec of another backend, line by line, so that its comments stay.
#pragma once

#include "spec/spec.h"

#include <string>

namespace openreg_gen {

/// A shipped spec under another name than its own: its prefixes, vendor and description go, so that defaults apply; for
/// `device` (null: not given) that is hardware, keys of the simulated one go too. Custom operators and fused attention
/// stay in a `full` one. The name itself stays.
std::string adapt_shipped_spec(const std::string& text, const std::string& name, const DeviceKind* device, bool full);

}  // namespace openreg_gen
