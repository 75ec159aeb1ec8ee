// The user's cache folder, $XDG_CACHE_HOME/openreg-gen or ~/.cache/openreg-gen. Nothing in it is needed: what cannot be
// read or written is done without, silently. OPENREG_GEN_NO_CACHE=1 turns it off. Safe between processes: files are
// renamed into place.
#pragma once

#include "system/files.h"

#include <optional>
#include <string>

namespace openreg_gen {

/// Empty if there is no home or the cache is turned off.
fs::path cache_dir();
std::optional<std::string> read_cache(const std::string& name);
void write_cache(const std::string& name, const std::string& bytes);

}  // namespace openreg_gen
