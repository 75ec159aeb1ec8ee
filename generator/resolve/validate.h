// The parts of resolve().
#pragma once

#include "resolve/resolve.h"

namespace openreg_gen {

void validate_ops(const ResolvedSpec& resolved, Diagnostics& diagnostics);
void validate_amp(const Spec& spec, const Catalog& catalog, Diagnostics& diagnostics);

/// The operator, or null after an error that names the closest ones (`unknown`) or the overloads there are
/// (`overload`).
const Op* find_op(const SpecValue<std::string>& name, const Catalog& catalog, const char* unknown, const char* overload,
                  Diagnostics& diagnostics);

}  // namespace openreg_gen
