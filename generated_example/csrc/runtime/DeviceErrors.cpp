// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/DeviceErrors.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "runtime/Exception.h"

namespace openreg {
namespace {

// What failed on a device and is to be reported.
struct Failure {
  bool present = false;
  bool lasting = false;
  std::string text;
};

struct Failures {
  std::mutex mutex;
  std::array<Failure, std::numeric_limits<c10::DeviceIndex>::max() + 1> by_device;

  Failure& of(int device) { return by_device[static_cast<size_t>(std::max(device, 0))]; }
};

Failures& failures() {
  static auto& failures = *new Failures();  // functions may run while the process ends
  return failures;
}

void report(c10::DeviceIndex device, const char* what, bool lasting) noexcept {
  Failures& all = failures();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Failure& kept = all.of(device);
  try {
    if (!kept.present || lasting > kept.lasting) {
      kept.text = what;
    }
  } catch (...) {  // no memory for the text: it stays as it is
  }
  kept.lasting = kept.lasting || lasting;
  if (!kept.present) {
    kept.present = true;
    detail::failed_devices.fetch_add(1, std::memory_order_release);
  }
}

// What is to be reported of the device now; forgotten unless it lasts.
std::optional<Failure> take_failure(int device) {
  Failures& all = failures();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Failure& kept = all.of(device);
  if (!kept.present) {
    return std::nullopt;  // of another device, or another thread reported it meanwhile
  }
  const Failure failure = kept;
  if (!kept.lasting) {
    kept = Failure{};
    detail::failed_devices.fetch_sub(1, std::memory_order_release);
  }
  return failure;
}

void throw_failure(int device, const char* call, const char* function, const char* file, uint32_t line) {
  if (device == kCurrentDevice) {
    OPENREG_CHECK(orGetDevice(&device));
  }
  const std::optional<Failure> failure = take_failure(device);
  if (!failure) {
    return;
  }
  throw c10::AcceleratorError({function, file, line}, static_cast<int32_t>(orErrorUnknown),
      c10::str("openreg: a function that ran on device ", device, " failed, maybe one queued long before: ",
          failure->text, " (seen in ", call, " at ", file, ":", line,
          failure->lasting ? "; the device is of no more use to this process)" : "; what it was to write is undefined)"));
}

[[maybe_unused]] const bool in_use = (detail::throw_device_error = &throw_failure, true);

// PyTorch waits for an event without saying of which device it is, but whose errors are to be reported depends on that.
struct EventDevices {
  std::mutex mutex;
  std::unordered_map<void*, c10::DeviceIndex> devices;
};

EventDevices& event_devices() {
  static auto& instance = *new EventDevices();  // events may be destroyed after main()
  return instance;
}

}  // namespace

void report_device_error(c10::DeviceIndex device, const char* what) noexcept {
  report(device, what, /*lasting=*/true);
}

void report_kernel_error(c10::DeviceIndex device, const char* what) noexcept {
  report(device, what, /*lasting=*/false);
}

void note_event(void* event, c10::DeviceIndex device) {
  EventDevices& all = event_devices();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.devices[event] = device;
}

void forget_event(void* event) {
  EventDevices& all = event_devices();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.devices.erase(event);
}

c10::DeviceIndex device_of_event(void* event) {
  EventDevices& all = event_devices();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.devices.find(event);
  return found == all.devices.end() ? kCurrentDevice : found->second;
}

}  // namespace openreg
