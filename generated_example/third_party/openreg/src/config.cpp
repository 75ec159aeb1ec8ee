// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "config.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace openreg::driver {
namespace {

constexpr int kDeviceCount = 2;
constexpr int kMaxDevices = 64;
constexpr std::size_t kMemory = 1073741824;

// A value that makes no sense is said and ignored: a library cannot refuse to load.
int device_count() {
  const char* text = std::getenv("OPENREG_DEVICE_COUNT");
  if (text == nullptr) return kDeviceCount;
  const std::string_view value = text;
  int count = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error == std::errc() && end == value.data() + value.size() && count >= 0 && count <= kMaxDevices) return count;
  std::fprintf(stderr, "openreg: OPENREG_DEVICE_COUNT=%s is no number from 0 to %d; using %d\n", text, kMaxDevices,
      kDeviceCount);
  return kDeviceCount;
}

IsolationMode isolation_mode() {
  const char* text = std::getenv("OPENREG_ISOLATION");
  const std::string_view value = text == nullptr ? "auto" : text;
  if (value == "auto") return IsolationMode::kAuto;
  if (value == "pkey") return IsolationMode::kPkey;
  if (value == "mprotect") return IsolationMode::kMprotect;
  if (value == "off") return IsolationMode::kOff;
  std::fprintf(stderr, "openreg: OPENREG_ISOLATION=%s is none of auto, pkey, mprotect, off; using auto\n", text);
  return IsolationMode::kAuto;
}

bool memory_debug() {
  const char* text = std::getenv("OPENREG_MEMORY_DEBUG");
  const std::string_view value = text == nullptr ? "0" : text;
  if (value == "1") return true;
  if (value != "0" && !value.empty()) {
    std::fprintf(stderr, "openreg: OPENREG_MEMORY_DEBUG=%s is neither 0 nor 1; using 0\n", text);
  }
  return false;
}

}  // namespace

const Config& config() {
  static const Config instance{device_count(), kMemory, isolation_mode(), memory_debug()};
  return instance;
}

}  // namespace openreg::driver
