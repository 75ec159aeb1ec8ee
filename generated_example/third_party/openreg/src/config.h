// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

// What the simulated device is like. Read once, from the environment where it overrides the spec; never changes after.
namespace openreg::driver {

enum class IsolationMode {
  kAuto,
  kPkey,
  kMprotect,
  kOff,
};

struct Config {
  std::vector<int> visible;  // the machine's number of each device that this process sees
  int device_count;  // how many it sees
  std::size_t memory;  // bytes, of each device
  IsolationMode isolation;
  bool memory_debug;
  std::chrono::microseconds stream_jitter;  // how much later than it could a task starts, at most
};

// Reads it. The first call may be made by several threads at once.
const Config& read_config();

inline std::atomic<const Config*> known_config{nullptr};

// Called by nearly every function of the API.
inline const Config& config() {
  const Config* known = known_config.load(std::memory_order_acquire);
  return known != nullptr ? *known : read_config();
}

}  // namespace openreg::driver
