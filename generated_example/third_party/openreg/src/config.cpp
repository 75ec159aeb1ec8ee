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
constexpr int kMaxJitter = 1'000'000;
constexpr std::size_t kMemory = 1073741824;

// A value that makes no sense is said and ignored: a library cannot refuse to load.
int number(const char* name, int most, int otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const std::string_view value = text;
  int result = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error == std::errc() && end == value.data() + value.size() && result >= 0 && result <= most) return result;
  std::fprintf(stderr, "openreg: %s=%s is no number from 0 to %d; using %d\n", name, text, most, otherwise);
  return otherwise;
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
  static const Config instance{
      number("OPENREG_DEVICE_COUNT", kMaxDevices, kDeviceCount),
      kMemory,
      isolation_mode(),
      memory_debug(),
      std::chrono::microseconds(number("OPENREG_STREAM_JITTER", kMaxJitter, 0)),
  };
  return instance;
}

}  // namespace openreg::driver
