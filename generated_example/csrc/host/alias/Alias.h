// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include "host/Tensors.h"
#include "runtime/Export.h"

// Note [Host code on the device's own bytes]
// On a device whose launched functions reach its memory (hostAccessible of the device's API: the simulator, and cards that share
// memory with the host), host code runs in the current stream, on that stream's thread, without copies.
//   Alias.h     HostAliases: the tensors of one call, over the device's own bytes; run_on_worker() waits, queue_on_worker() does not
//   Queue.h     queue(): a task in the current stream
//   QueuedArgument.h      QueuedArgument: the arguments of a call that runs later
//   Stub.h      queue_call(): a function of the CPU and its arguments, in the current stream
//   Dtypes.h    checks before it runs

namespace openreg {
namespace native {

/// Whether functions given to orLaunchKernel reach the memory of the current device.
OPENREG_RUNTIME_API bool kernels_reach_memory();

/// Whether any thread of the host does, at any time: memory that host and device share.
OPENREG_RUNTIME_API bool host_reaches_memory();

}  // namespace native

/// The tensors of one call over the device's own bytes. They own no device memory and may outlive this object. Where kernels
/// reach device memory.
class OPENREG_RUNTIME_API HostAliases final : public HostTensors {
 public:
  bool copies() const override { return false; }
  void run(c10::function_ref<void()> fn) override;

 private:
  c10::Storage reach(const Range& range) override;
};

/// HostAliases for a single tensor: a CPU tensor over its bytes. Where kernels reach device memory.
OPENREG_RUNTIME_API at::Tensor host_alias(const at::Tensor& tensor, bool written);

/// Runs `fn`, in a CpuKernelScope, in stream order on the thread of the current stream, where it may use device memory, and waits
/// for it. Its exceptions and warnings are raised here. `fn` must not call the device's API, nor drop the last
/// reference to a device tensor. If `fn` may want the Python lock, the caller must not hold it.
OPENREG_RUNTIME_API void run_on_worker(c10::function_ref<void()> fn);

/// The same without waiting: `fn` and what it owns are destroyed on the stream's thread. What it throws is reported
/// by a later call.
/// A graph calls it with each replay.
OPENREG_RUNTIME_API void queue_on_worker(std::function<void()> fn);

}  // namespace openreg
