// Reading files. Writing trees is tree/'s.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace openreg_gen {

/// The bytes of a file, the first `most` of them; nothing if it cannot be read.
std::optional<std::string> try_read_file(const std::filesystem::path& path,
                                         std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace openreg_gen
