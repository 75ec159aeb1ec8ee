#include "system/cache.h"

#include "base/environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

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
  // A name that nobody can foresee, and a file that was not there: others may write in a shared cache, too.
  std::string temporary = (dir / (name + ".XXXXXX")).string();
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return;
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  const bool good = ::close(descriptor) == 0 && left.empty();
  if (good) fs::rename(temporary, dir / name, error);
  if (!good || error) fs::remove(temporary, error);
}

}  // namespace openreg_gen
