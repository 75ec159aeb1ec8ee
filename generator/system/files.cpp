#include "system/files.h"

#include "diag/failure.h"

#include <algorithm>
#include <fstream>

namespace openreg_gen {

std::optional<std::string> try_read_file(const fs::path& path, std::size_t most) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  std::string text;
  // One step where the size is known; files of /proc have none.
  std::size_t step = std::min<std::size_t>(most, error || size == 0 ? 4096 : size + 1);
  while (in && text.size() < most) {
    const std::size_t before = text.size();
    text.resize(before + std::min(step, most - before));
    in.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return std::nullopt;
  return text;
}

std::string read_file(const fs::path& path, const char* code, const char* hint, const std::string& about) {
  if (auto text = try_read_file(path)) return std::move(*text);
  throw Failure(Exit::Environment, code, "cannot read " + path.string() + about, hint);
}

}  // namespace openreg_gen
