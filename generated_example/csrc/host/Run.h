// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <functional>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/FunctionRef.h>

#include "host/Memory.h"
#include "runtime/Export.h"

// Where host code runs that uses device memory: see Note [Host code on device memory].

namespace openreg {

/// The state of a thread in which CPU kernels may run: no autograd, and as many threads as `threads` (0: as it is), since
/// those settings belong to a thread. For functions that are launched by other means than run_on_worker().
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

/// Runs `fn`, in a CpuKernelScope, where it may use memory that was made the host's with `access`, and waits for it: with
/// kAlias in stream order on the thread of the current stream, with kCopy on this thread. What it throws is thrown here,
/// what it warns of is warned of here. `fn` must not call the device's API, nor drop the last reference to a device tensor.
/// The Python lock must not be held by the caller if `fn` may want it.
OPENREG_RUNTIME_API void run_on_host(HostAccess access, c10::function_ref<void()> fn);

/// run_on_host() with kAlias.
OPENREG_RUNTIME_API void run_on_worker(c10::function_ref<void()> fn);

/// The same without waiting: `fn` and what it owns are destroyed on the stream's thread. What it throws is reported
/// by a later call.
/// A graph calls it with each replay.
OPENREG_RUNTIME_API void queue_on_worker(std::function<void()> fn);

/// Calls an operator with the host's tensors on a stack. Components that call it otherwise for some dtypes put a function of their
/// own here while the library is loaded.
extern void (*cpu_kernel_call)(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace openreg
