// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <functional>
#include <string>

#include <c10/core/Storage.h>

#include "runtime/Export.h"

// Note [Sharing storages between processes]
// torch.multiprocessing sends tensors by sending their storages. PyTorch 2.13 can do that for the CPU and for CUDA; the
// Python package registers a reduction of storages that calls these two functions, and everything above (views,
// parameters, sparse tensors) is PyTorch's own.
//
// A message names the device allocation a storage lies in (the caching allocator puts many storages into one), the
// storage's offset and size there, and a counter (IpcCounters.h). Opening it makes a storage over the same memory. A storage
// arrives only once in a process: a second message for it returns the same storage, and so does one back in its owner.
//
// Ownership: from the first message on, the memory is kept for the others. When the owner's storage dies, its memory is
// released as soon as no message is pending and no process has it open: at once, or in the next ipcCollect().
// Memory of an owner that has ended lives on in the processes that have it open.
// Order: the owner's device is synchronized when a message is made, and the receiver's device before it releases memory.
// Threads: any. A child of fork() that can't use the device can't share either.

namespace openreg {

/// A message for one receiver; plain bytes. Throws c10::Error if the storage isn't on the device, or if the device can't share.
OPENREG_RUNTIME_API std::string shareStorage(const c10::Storage& storage);

/// The storage of a message; each message is to be opened once. Throws c10::Error if its owner has ended.
OPENREG_RUNTIME_API c10::Storage openStorage(const std::string& message);

/// Gives back the memory of shared storages that nobody uses any more. Whether there was any.
OPENREG_RUNTIME_API bool ipcCollect();

/// Lets go of another process's memory, by `let_go`, which waits for the device and throws nothing. A component in which a
/// wait may be forbidden puts a function of its own here while the library is loaded: it keeps `let_go` until then. Null: does only
/// what was kept. Called by deleters, and by ipcCollect().
extern void (*let_go_of_received)(std::function<void()> let_go);

/// Whether kernels of `device` can reach the memory of `peer`. A port that does not know: no.
OPENREG_RUNTIME_API bool canDeviceAccessPeer(c10::DeviceIndex device, c10::DeviceIndex peer);

/// Lets kernels of `device` reach the memory of `peer`; false if they can't. Asks the driver once for each pair.
OPENREG_RUNTIME_API bool enablePeerAccess(c10::DeviceIndex device, c10::DeviceIndex peer);

}  // namespace openreg
