// Written by `openreg-gen new --from`. Yours to edit.
// The old backend's allocator, guard and copy, as csrc/adopted/OldRuntime.cpp hands them to the port, which has no PyTorch.
// Functions throw what the old backend throws; the port makes errors of the device's API of that.
#pragma once

#include <cstddef>
#include <memory>

#include "@NAME@.h"

namespace @NAME@::driver {

using OldStream = std::shared_ptr<void>;
using OldEvent = std::shared_ptr<void>;

struct OldRuntime {
  int (*device_count)();
  int (*device)();
  void (*set_device)(int device);
  std::shared_ptr<void> (*allocate)(std::size_t size);  // of the current device; its deleter is the old one
  // Devices are -1 for the host's memory.
  void (*copy)(void* to, int to_device, const void* from, int from_device, std::size_t size);
  OldStream (*new_stream)(int device, int priority);
  OldStream (*default_stream)(int device);
  bool (*query_stream)(const OldStream& stream);
  void (*synchronize_stream)(const OldStream& stream);
  void (*synchronize_device)(int device);
  OldEvent (*new_event)(int device, bool timed);
  void (*record)(const OldEvent& event, const OldStream& stream);
  void (*block)(const OldEvent& event, const OldStream& stream);
  bool (*query_event)(const OldEvent& event);
  void (*synchronize_event)(const OldEvent& event);
  double (*elapsed)(const OldEvent& start, const OldEvent& end);
};

}  // namespace @NAME@::driver

// Called once, while libtorch_@NAME@.so is loaded.
extern "C" __attribute__((visibility("default"))) void @NAME@UseOldRuntime(const @NAME@::driver::OldRuntime* runtime);
