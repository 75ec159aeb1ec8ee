// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "runtime/Export.h"

// Note [Hooks]
// Functions that PyTorch's CPU side calls on an accelerator it wasn't compiled with: availability, pinned memory,
// generators, the device of a pointer, resizing a storage. at::Context and the autograd engine call them; without hooks the first
// backward(), pin_memory() or torch.Generator(device="openreg") throws.
//
// isBuilt, isAvailable and hasPrimaryContext never throw: PyTorch calls them to find out whether anything else may be
// called, also on machines without a device. The one instance is registered at load and never destroyed; it has no
// state of its own. Threads: any.

namespace openreg {

struct OPENREG_RUNTIME_API OpenRegHooksInterface final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override;

  /// Whether memory or a stream was asked of the device. backward() synchronizes the streams of those devices only.
  bool hasPrimaryContext(c10::DeviceIndex device) const override;
  void init() const override;

  c10::DeviceIndex deviceCount() const override;
  void setCurrentDevice(c10::DeviceIndex device) const override;
  c10::DeviceIndex getCurrentDevice() const override;
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override;
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override;

  bool isPinnedPtr(const void* data) const override;
  c10::Allocator* getPinnedMemoryAllocator() const override;

  /// Throws c10::Error if `data` isn't device memory.
  c10::Device getDeviceFromPtr(void* data) const override;

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device = -1) const override;
  at::Generator getNewGenerator(c10::DeviceIndex device = -1) const override;

  /// UntypedStorage.resize_: new memory of `bytes`, with as much of the old content as fits.
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override;
};

}  // namespace openreg
