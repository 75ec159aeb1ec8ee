#include "catalog/cache.h"

#include "diag/environment.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace openreg_gen {
std::filesystem::path catalog_cache_dir() {
  const auto off = environment("OPENREG_GEN_NO_CACHE");
  if (!off.empty() && off != "0") return {};
  // A relative XDG_CACHE_HOME is to be ignored, says the XDG specification.
  if (const std::filesystem::path xdg = environment("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "openreg-gen";
  if (const std::filesystem::path home = environment("HOME"); home.is_absolute()) return home / ".cache/openreg-gen";
  return {};
}

std::optional<std::string> read_cache(const std::string& name) {
  const auto dir = catalog_cache_dir();
  if (dir.empty()) return {};
  std::ifstream file(dir / name, std::ios::binary | std::ios::ate);
  const auto size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0 || size > (64 << 20)) return {};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.seekg(0);
  if (!file.read(bytes.data(), size)) return {};
  return bytes;
}

void write_cache(const std::string& name, const std::string& bytes) {
  const auto dir = catalog_cache_dir();
  if (dir.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return;
  const auto temporary = dir / (name + "." + std::to_string(::getpid()) + ".tmp");
  std::ofstream file(temporary, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) std::filesystem::rename(temporary, dir / name, error);
  if (!file || error) std::filesystem::remove(temporary, error);
}

}  // namespace openreg_gen
