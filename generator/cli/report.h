// How every verb shows diagnostics.
#pragma once

#include "diag/diagnostic.h"
#include "diag/failure.h"

namespace openreg_gen {

/// Text goes to stderr, coloured on a terminal. With `json`, one line of JSON goes to stdout if there is an error, else
/// nothing is printed (the verb's own JSON follows). True if there is an error, that is, if the verb must stop with
/// Exit::BadInput. Call Diagnostics::finish() first.
bool report(const Diagnostics& diagnostics, bool json);

}  // namespace openreg_gen
