// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Functions.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include <c10/util/Exception.h>

#include "runtime/Exception.h"
#include "runtime/Guard.h"

namespace openreg {

namespace {

std::atomic<bool> initialized{false};
std::atomic<bool> bad_fork{false};
std::array<std::atomic<bool>, kMaxDevices + 1> used{};
std::atomic<int> known_count{0};  // devices that were seen; indices below it need no call of the driver

void after_fork_in_child() {
  initialized.store(false);
  bad_fork.store(true);
}

}  // namespace

c10::DeviceIndex device_count() noexcept {
  int count = 0;
  if (orGetDeviceCount(&count) != orSuccess) {
    orGetLastError();  // a machine without the driver has no devices; that is not an error to report later
    return 0;
  }
  return static_cast<c10::DeviceIndex>(std::clamp(count, 0, kMaxDevices));
}

c10::DeviceIndex device_count_ensure_non_zero() {
  int count = 0;
  OPENREG_CHECK(orGetDeviceCount(&count));  // says why, where device_count() may not
  TORCH_CHECK(count > 0, "openreg: no device found. Is the driver loaded, and may this process use it?");
  return static_cast<c10::DeviceIndex>(std::min(count, kMaxDevices));
}

c10::DeviceIndex current_device() {
  int device = 0;
  OPENREG_CHECK(orGetDevice(&device));
  return static_cast<c10::DeviceIndex>(device);
}

void set_device(c10::DeviceIndex device) {
  initialize();
  check_device_index(device);
  OPENREG_CHECK(orSetDevice(device));
}

c10::DeviceIndex exchange_device(c10::DeviceIndex device) {
  if (device == -1) {
    return -1;
  }
  const c10::DeviceIndex previous = current_device();
  if (previous != device) {
    check_device_index(device);
    OPENREG_CHECK(orSetDevice(device));
  }
  return previous;
}

void device_synchronize(c10::DeviceIndex device) {
  initialize();
  device = resolve_device_index(device);
  const OpenRegGuard guard(device);
  OPENREG_CHECK_WAIT(device, orDeviceSynchronize());
  fire_hook(&TraceHooks::trace_gpu_device_synchronization);  // of the current device
}

void check_device_index(c10::DeviceIndex device) {
  if (C10_LIKELY(device >= 0 && device < known_count.load(std::memory_order_relaxed))) {
    return;
  }
  const c10::DeviceIndex count = device_count();
  if (device >= 0 && device < count) {
    known_count.store(count, std::memory_order_relaxed);
    return;
  }
  device_count_ensure_non_zero();
  TORCH_CHECK(false, "openreg: device index ", int{device}, " is out of range, there are ", int{count}, " devices");
}

c10::DeviceIndex resolve_device_index(c10::DeviceIndex device) {
  if (device == -1) {
    device = current_device();
  }
  check_device_index(device);
  return device;
}

orDeviceProperties device_properties(c10::DeviceIndex device) {
  check_device_index(device);
  orDeviceProperties properties{};
  OPENREG_CHECK(orGetDeviceProperties(&properties, device));
  return properties;
}

void initialize() {
  if (C10_LIKELY(initialized.load(std::memory_order_acquire))) {
    return;
  }
  TORCH_CHECK(
      !isInBadFork(),
      "openreg: cannot use a device in a forked subprocess, as the parent process had used one. "
      "Use the 'spawn' start method of multiprocessing.");
  device_count_ensure_non_zero();
  static std::once_flag once;
  std::call_once(once, [] {
    // Without memory for the handler forks would be unsafe, and little else would work either.
    TORCH_CHECK(pthread_atfork(nullptr, nullptr, after_fork_in_child) == 0, "openreg: cannot register a fork handler");
  });
  initialized.store(true, std::memory_order_release);
}

bool is_initialized() noexcept { return initialized.load(std::memory_order_acquire); }

bool isInBadFork() noexcept { return bad_fork.load(std::memory_order_acquire); }

void mark_device_used(c10::DeviceIndex device) noexcept {
  if (device >= 0 && !used[device].load(std::memory_order_relaxed)) {
    used[device].store(true, std::memory_order_relaxed);
  }
}

bool device_has_context(c10::DeviceIndex device) noexcept {
  return device >= 0 && used[device].load(std::memory_order_relaxed);
}

}  // namespace openreg
