// Edits of a spec's text, line by line, so that its comments stay.
#pragma once

#include "spec/spec.h"

#include <string>

namespace openreg_gen {

/// A shipped spec under another name than its own: its prefixes, vendor and description go, so that defaults apply; for
/// `device` (null: none was asked for) that is hardware also what only the simulated one has. The name itself is left
/// to with_name.
std::string adapt_shipped_spec(const std::string& text, const std::string& name, const DeviceKind* device);

/// Puts a name where `spec` (parsed from `text`) has its backend.name. Throws Failure(BadInput, E0509) if it cannot.
std::string with_name(const std::string& text, const Spec& spec, const std::string& name);

/// Sets device.api. Throws Failure(BadInput, E0509) if the text has a `device` without `api` in a form that is not
/// understood.
std::string with_device(const std::string& text, const Spec& spec, const std::string& api);

}  // namespace openreg_gen
