// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

#include "runtime/Event.h"
#include "runtime/Export.h"

// Note [Pinned host memory]
// Host memory that the device can reach by itself, which makes copies truly asynchronous. Tensor.pin_memory,
// DataLoader(pin_memory=True) and storage.cpu(non_blocking=True) get it through the hooks; torch.accelerator's
// empty_host_cache finds it in PyTorch's registry. Without it all of these throw.
//
// The caching is PyTorch's (at::CachingHostAllocatorImpl); only the four functions for a device are here: allocate,
// free, record an event, query it. A freed block is reused once all streams have passed
// the copies that read or wrote it; code that queues such a copy calls record_event(ptr, context, stream).
//
// Ownership: never destroyed, blocks are kept until empty_cache(). Threads: any. The DataPtr's device is the CPU.

namespace openreg {

/// The pinned allocator. Not owned by the caller.
OPENREG_RUNTIME_API at::HostAllocator* getHostAllocator();

/// Whether the device's driver knows `data` as pinned host memory. False if it can't be asked; never throws.
OPENREG_RUNTIME_API bool isPinnedPtr(const void* data) noexcept;

}  // namespace openreg
