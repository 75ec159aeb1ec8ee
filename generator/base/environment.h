// The environment's variables.
#pragma once

#include <cstdlib>
#include <string>

namespace openreg_gen {

/// Empty if it is not set.
inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace openreg_gen
