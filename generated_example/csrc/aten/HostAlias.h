// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Storage.h>
#include <c10/util/FunctionRef.h>

#include "runtime/Export.h"

// Note [CPU tensors over device memory]
// PyTorch's CPU kernels are ordinary functions over memory. Where a stream's thread can dereference device memory
// (hostAccessible: the simulator, and devices that share memory with the host), they can run there, on CPU tensors
// that alias the device's: no argument is copied. Two things make that work:
//   HostAliases        CPU tensors with the sizes, strides, offset, dtype and pending conjugation of device tensors,
//                      over the same bytes; tensors that share a storage still do.
//   run_on_worker()    runs a function in the current stream, on its thread, and waits for it.
// Only there may an alias be read or written: on a host thread its first touch faults. An alias owns no device
// memory; whoever makes one keeps the device tensor alive until the function that uses it has run.

namespace openreg {

/// Whether functions run by run_on_worker() can dereference the memory of the current device.
OPENREG_RUNTIME_API bool aliasable();

/// Aliases that belong together: those of one call of an operator. Holds on to the device tensors, so it must not live
/// longer than the call, nor die on a stream's thread. Used by one thread.
class OPENREG_RUNTIME_API HostAliases {
 public:
  /// A CPU tensor over the bytes of `tensor`, which may outlive this object. Undefined tensors and those of other devices
  /// are returned as they are.
  /// `written`: the function may write it; a copy-on-write storage gets bytes of its own first. Throws c10::Error for
  /// a tensor that is not strided.
  at::Tensor alias(const at::Tensor& tensor, bool written);

  /// The same for all tensors in a value: a tensor, an optional, or a list of either. Device arguments become the CPU.
  c10::IValue alias(const c10::IValue& value, bool written);

  /// After the function ran: gives the tensors that may have been written the sizes and strides of their aliases. Where
  /// the function resized an alias beyond its storage, the device's storage is resized and filled from it; returns how
  /// many bytes that moved.
  size_t update();

  /// What a tensor that the function returned is on the device: the tensor whose alias it is, or a view of the memory
  /// of one; none if it has memory of its own. After update().
  std::optional<at::Tensor> device_tensor(const at::Tensor& result) const;

 private:
  struct Pair {
    at::Tensor device;
    at::Tensor alias;
    bool written;
  };
  std::vector<Pair> pairs_;  // a handful: searched in order
};

/// HostAliases().alias(): for a single tensor.
inline at::Tensor host_alias(const at::Tensor& tensor, bool written) { return HostAliases().alias(tensor, written); }

/// The state of a thread in which CPU kernels may run: no autograd, and as many threads as `threads`, since those
/// settings belong to a thread. For functions that are launched by other means than run_on_worker().
class OPENREG_RUNTIME_API CpuKernelScope {
 public:
  explicit CpuKernelScope(int threads);
  ~CpuKernelScope();
  CpuKernelScope(const CpuKernelScope&) = delete;
  CpuKernelScope& operator=(const CpuKernelScope&) = delete;

 private:
  struct State;
  State* state_;
};

/// Runs `fn` in stream order on the thread of the current stream, in a CpuKernelScope, and waits for it. What it throws
/// is thrown here, what it warns of is warned of here. `fn` must not call the device's API, nor drop the last reference
/// to a device tensor. The Python lock must not be held by the caller if `fn` may want it.
OPENREG_RUNTIME_API void run_on_worker(c10::function_ref<void()> fn);

/// The same without waiting: `fn` and what it owns are destroyed on the stream's thread. `fn` must not throw.
OPENREG_RUNTIME_API void queue_on_worker(std::function<void()> fn);

}  // namespace openreg
