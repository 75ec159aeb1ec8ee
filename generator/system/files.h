// Reading files. Writing trees is tree/'s.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace openreg_gen {

namespace fs = std::filesystem;

/// The bytes of a file, the first `most` of them; nothing if it cannot be read.
std::optional<std::string> try_read_file(const fs::path& path,
                                         std::size_t most = std::numeric_limits<std::size_t>::max());

/// The bytes of a file; throws Failure(Environment, `code`) if it cannot be read.
std::string read_file(const fs::path& path, const char* code, const char* hint, const std::string& about = {});
/// Of a file of the command's own data: E0608.
inline std::string read_data(const fs::path& path) { return read_file(path, "E0608", "install openreg-gen again"); }

}  // namespace openreg_gen
