// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "config.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace openreg::driver {
namespace {

constexpr int kDeviceCount = 2;
constexpr int kMaxDevices = 64;
constexpr int kMaxJitter = 1'000'000;
constexpr std::size_t kMemory = 1073741824;

// False if `text` is anything but a number.
bool parse(std::string_view text, int* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// A value that makes no sense is reported and ignored: a library cannot refuse to load.
int number(const char* name, int most, int otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  int result = -1;
  if (parse(text, &result) && result >= 0 && result <= most) return result;
  std::fprintf(stderr, "openreg: %s=%s is not a number from 0 to %d; using %d\n", name, text, most, otherwise);
  return otherwise;
}

// Which of the machine's `count` devices the process sees, in its own order; as CUDA_VISIBLE_DEVICES is read, which users know.
std::vector<int> visible_devices(int count) {
  std::vector<int> visible;
  const char* text = std::getenv("OPENREG_VISIBLE_DEVICES");
  if (text == nullptr) {
    for (int device = 0; device < count; ++device) visible.push_back(device);
    return visible;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view entry = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (entry.starts_with(' ')) entry.remove_prefix(1);
    while (entry.ends_with(' ')) entry.remove_suffix(1);
    int device = -1;
    if (!parse(entry, &device) || device < 0 || device >= count) break;  // devices after one that is not there stay unseen
    if (std::find(visible.begin(), visible.end(), device) != visible.end()) return {};  // one device can't be two
    visible.push_back(device);
  }
  return visible;
}

IsolationMode isolation_mode() {
  const char* text = std::getenv("OPENREG_ISOLATION");
  const std::string_view value = text == nullptr ? "auto" : text;
  if (value == "auto") return IsolationMode::kAuto;
  if (value == "pkey") return IsolationMode::kPkey;
  if (value == "mprotect") return IsolationMode::kMprotect;
  if (value == "off") return IsolationMode::kOff;
  std::fprintf(stderr, "openreg: OPENREG_ISOLATION=%s is not auto, pkey, mprotect or off; using auto\n", text);
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

const Config& read_config() {
  static const std::vector<int> visible = visible_devices(number("OPENREG_DEVICE_COUNT", kMaxDevices, kDeviceCount));
  static const Config instance{
      visible,
      static_cast<int>(visible.size()),
      kMemory,
      isolation_mode(),
      memory_debug(),
      std::chrono::microseconds(number("OPENREG_STREAM_JITTER", kMaxJitter, 0)),
  };
  known_config.store(&instance, std::memory_order_release);
  return instance;
}

}  // namespace openreg::driver
