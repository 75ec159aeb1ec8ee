// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>

namespace openreg::driver {

// Has the process say, before it dies of it, that host code touched device memory in [base, base + size). Other faults,
// and the end of this one, are left to whatever handled SIGSEGV before (Python's faulthandler, a sanitizer, the
// system). To be called once.
void install_fault_handler(const void* base, std::size_t size);

}  // namespace openreg::driver
