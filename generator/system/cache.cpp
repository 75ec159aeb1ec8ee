#include "system/cache.h"

#include "base/environment.h"

#include <unistd.h>

#include <fstream>

namespace openreg_gen {

fs::path cache_dir() {
  const auto off = environment("OPENREG_GEN_NO_CACHE");
  if (!off.empty() && off != "0") return {};
  // A relative XDG_CACHE_HOME is to be ignored, says the XDG specification.
  if (const fs::path xdg = environment("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "openreg-gen";
  if (const fs::path home = environment("HOME"); home.is_absolute()) return home / ".cache/openreg-gen";
  return {};
}

std::optional<std::string> read_cache(const std::string& name) {
  const auto dir = cache_dir();
  if (dir.empty()) return {};
  return try_read_file(dir / name);
}

void write_cache(const std::string& name, const std::string& bytes) {
  const auto dir = cache_dir();
  if (dir.empty()) return;
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return;
  const auto temporary = dir / (name + "." + std::to_string(::getpid()) + ".tmp");
  std::ofstream file(temporary, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) fs::rename(temporary, dir / name, error);
  if (!file || error) fs::remove(temporary, error);
}

}  // namespace openreg_gen
