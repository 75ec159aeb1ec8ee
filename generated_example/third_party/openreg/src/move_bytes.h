// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>

namespace openreg::driver {

// std::memmove for threads that may touch device memory. One processor does not use all the bandwidth of a machine's memory,
// so large moves are shared with helpers. They start with the first large move, with the rights of the thread that makes it,
// and sleep between. Any number of threads may call this; while the helpers are busy, a caller moves by itself.
void move_bytes(void* destination, const void* source, std::size_t size);

}  // namespace openreg::driver
