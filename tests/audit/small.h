// A small audit, as Python writes one: a backend with the holes that tests look for.
#pragma once

#include "files.h"

#include <string>

namespace openreg_gen {

inline std::string small_audit() { return read_file(TESTS_DIR "/audit/small.json"); }

}  // namespace openreg_gen
