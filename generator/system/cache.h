// The user's cache folder, $XDG_CACHE_HOME/openreg-gen or ~/.cache/openreg-gen. It is optional: errors of reading and
// writing are ignored. OPENREG_GEN_NO_CACHE=1 turns it off. Safe between processes: files are
// renamed into place.
#pragma once

#include "system/files.h"

#include <optional>
#include <string>

namespace openreg_gen {

/// Empty without a home directory, or if the cache is off.
fs::path cache_dir();
std::optional<std::string> read_cache(const std::string& name);
void write_cache(const std::string& name, const std::string& bytes);

}  // namespace openreg_gen
