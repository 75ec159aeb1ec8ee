// A shipped spec as that of another backend, edited line by line, so that its comments stay.
#pragma once

#include "spec/spec.h"

#include <string>

namespace openreg_gen {

/// A shipped spec under another name than its own: its prefixes, vendor and description go, so that defaults apply; for
/// `device` (null: none was asked for) that is hardware also what only the simulated one has. The name itself stays.
std::string adapt_shipped_spec(const std::string& text, const std::string& name, const DeviceKind* device);

}  // namespace openreg_gen
