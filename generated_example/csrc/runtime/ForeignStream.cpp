// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "runtime/ForeignStream.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "runtime/Functions.h"

namespace openreg {

namespace {

struct Handles {
  std::mutex mutex;
  std::vector<orStream_t> list;  // guarded by mutex; only grows
};

Handles& handles_of(c10::DeviceIndex device) {
  static auto* const handles = new std::deque<Handles>(device_count_ensure_non_zero());  // threads may outlive static objects
  return handles->at(static_cast<size_t>(device));
}

}  // namespace

orStream_t foreign_handle(c10::DeviceIndex device, size_t index) {
  Handles& handles = handles_of(device);
  const std::lock_guard<std::mutex> lock(handles.mutex);
  return index < handles.list.size() ? handles.list[index] : nullptr;
}

OpenRegStream getStreamFromExternal(orStream_t handle, c10::DeviceIndex device) {
  check_device_index(device);
  TORCH_CHECK(handle != nullptr, "openreg: the null handle is the default stream's, use getDefaultStream()");
  Handles& handles = handles_of(device);
  const std::lock_guard<std::mutex> lock(handles.mutex);
  const auto found = std::find(handles.list.begin(), handles.list.end(), handle);
  const auto index = static_cast<size_t>(found - handles.list.begin());
  if (found == handles.list.end()) {
    handles.list.push_back(handle);
  }
  return foreign_stream(device, index);
}

}  // namespace openreg
