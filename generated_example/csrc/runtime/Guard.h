// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/InlineDeviceGuard.h>
#include <c10/core/impl/InlineStreamGuard.h>

#include "runtime/Export.h"

// Note [Device guard]
// PyTorch's generic code (c10::DeviceGuard, c10::Event, torch.accelerator, torch.Stream, torch.Event, the autograd
// engine's workers) switches devices and streams through this one interface, found by device type. Without it every
// use of the device fails with "PyTorch is not linked with support for ... devices".
//
// Rules of the interface: the current device and the current streams belong to the thread; an index of -1 means the
// current device; PyTorch doesn't check indices, so all but uncheckedSetDevice do; deviceCount, destroyEvent and
// uncheckedSetDevice never throw. Events are the C API's handles, created by the first record(), owned by c10::Event.
//
// The dispatcher puts no guard around a backend's kernels: their registration makes one (aten/Signature.h). Without it,
// work on a tensor of device 1 is queued on device 0's stream: a race. After x.fill_(1), most of relu(x) is then wrong.
//
// The one instance is created at load and never destroyed. Threads: any.

namespace openreg {

struct OPENREG_RUNTIME_API OpenRegGuardImpl final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = c10::DeviceType::PrivateUse1;

  OpenRegGuardImpl() = default;
  explicit OpenRegGuardImpl(c10::DeviceType type);

  c10::DeviceType type() const override { return static_type; }

  // Devices.
  c10::Device exchangeDevice(c10::Device device) const override;
  c10::Device getDevice() const override;
  void setDevice(c10::Device device) const override;
  void uncheckedSetDevice(c10::Device device) const noexcept override;
  c10::DeviceIndex deviceCount() const noexcept override;
  c10::DeviceCapability getDeviceCapability(c10::Device device) const override;
  void synchronizeDevice(c10::DeviceIndex device) const override;

  // Streams.
  c10::Stream getStream(c10::Device device) const override;
  c10::Stream getDefaultStream(c10::Device device) const override;
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool isHighPriority = false) const override;
  c10::Stream getNewStream(c10::Device device, int priority = 0) const override;
  c10::Stream exchangeStream(c10::Stream stream) const override;
  void* getStreamNativeHandle(c10::Stream stream) const override;
  bool queryStream(const c10::Stream& stream) const override;
  void synchronizeStream(const c10::Stream& stream) const override;
  bool isStreamCapturing(const c10::Stream& stream) const override;
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override;

  // Events.
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex device, c10::EventFlag flag) const override;
  void block(void* event, const c10::Stream& stream) const override;
  bool queryEvent(void* event) const override;
  void synchronizeEvent(void* event) const override;
  double elapsedTime(void* start, void* end, c10::DeviceIndex device) const override;
  void destroyEvent(void* event, c10::DeviceIndex device) const noexcept override;
};

/// Makes a device current for a scope: OpenRegGuard guard(index).
using OpenRegGuard = c10::impl::InlineDeviceGuard<OpenRegGuardImpl>;

/// The same, for an index that may be absent.
using OptionalOpenRegGuard = c10::impl::InlineOptionalDeviceGuard<OpenRegGuardImpl>;

/// Makes a stream and its device current for a scope.
using OpenRegStreamGuard = c10::impl::InlineStreamGuard<OpenRegGuardImpl>;

}  // namespace openreg
