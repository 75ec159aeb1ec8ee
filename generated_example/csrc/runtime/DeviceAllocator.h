// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>

#include <c10/core/CachingDeviceAllocator.h>

#include "runtime/Export.h"

// Note [Device allocator]
// Every storage on the device comes from the one c10::DeviceAllocator that is registered for PrivateUse1. Factories
// (empty and friends), storages and torch.accelerator's memory functions find it there. Without it no tensor can be
// made; were it only a c10::Allocator, all of torch.accelerator's memory functions would fail.
//
// Which one it is, the spec says (allocator.device): exactly one file of the tree defines makeDeviceAllocator(),
// and DeviceAllocator.cpp registers what it returns. That is the whole seam: another allocator replaces one file.
// This tree has `caching`. Before the device is used, a process may put another in its place
// (changeCurrentAllocator() in Allocator.h), such as one from a user's library (PluggableAllocator.h).
//
// Ownership: the allocator is created at load and never destroyed, as tensors may outlive main(). It owns its blocks;
// a DataPtr owns the use of one. Threads: all members may be called from any thread, deleters from any thread at any
// time. The device of an allocation is the calling thread's current one, so callers need a device guard.

namespace openreg {

/// The allocator that is registered for the device. Not owned by the caller.
OPENREG_RUNTIME_API c10::DeviceAllocator* getDeviceAllocator();

/// Registers another allocator in place of the present one. Not owned: it must outlive all tensors. See changeCurrentAllocator().
void setDeviceAllocator(c10::DeviceAllocator* allocator);

/// Makes the allocator the spec asks for. Called once, at load; must not touch the device.
std::unique_ptr<c10::DeviceAllocator> makeDeviceAllocator();

}  // namespace openreg
