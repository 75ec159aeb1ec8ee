// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include <ATen/native/CPUFallback.h>
#include <c10/core/ScalarType.h>
#include <c10/util/FunctionRef.h>

#include "runtime/Export.h"

// Note [Falling back to the CPU]
// An operator without a kernel here runs PyTorch's CPU kernel, on tensors of the host: Note [The tensors of a call, there and back].
// `fallback` in openreg.yaml says whether operators do so by themselves and how, `ops.*.fallback` says it of a single one:
//   copy   on copies: the arguments are copied to the host, the results and written arguments back
//   alias  on the device's memory, with component host_alias: only a new result is copied, once
//   cpu    alias with that component if launched functions reach device memory, otherwise copy
//   none   it is an error
// OPENREG_FALLBACK in the environment, one of these words, overrides both. Use `none` to find what has no kernel of the device:
// it refuses kernels that begin with host_call(), too, where they run on copies.
//
// Random operators draw from the device's generator in any case: the CPU's kernel gets one that is derived from it.
// An operator without a CPU kernel can't fall back, and one with tensors on several devices must not.

namespace openreg {

enum class FallbackKind {
  kNone,  // an error
  kCpu,
  kCopy,
  kAlias,  // copies, where functions launched do not reach device memory
};

/// What OPENREG_FALLBACK says, if anything. Read once; a bad word throws ValueError at each use.
std::optional<FallbackKind> fallback_override();

/// Whether an operator writes its argument `index`, or tensors of it if it is a list. Operators that write without their
/// schemas saying so are known by name.
bool is_written(const c10::OperatorHandle& op, size_t index);

/// Runs `op` on the CPU as `kind` and the environment say. Throws NotImplementedError if it says none, or where the
/// operator can't; c10::Error for tensors on several devices; what the CPU kernel throws. Threads: any.
OPENREG_RUNTIME_API void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack, FallbackKind kind);

/// The boxed kernel of an operator that falls back in a way of its own.
template <FallbackKind kind>
void fallback_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  fall_back(op, stack, kind);
}

/// fall_back() for kernels that have nothing better yet: as `fallback` in openreg.yaml says, and as `cpu` where that is
/// none.
OPENREG_RUNTIME_API void cpu_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// cpu_detour, or another of these, from a kernel with a signature: `return detour<at::_ops::relu>(self);`
template <class Op, auto fallback_fn = &cpu_detour, class... Args>
decltype(auto) detour(Args&&... args) {
  return at::native::call_fallback_fn<fallback_fn, Op>::call(std::forward<Args>(args)...);
}

/// The CPU's kernel in the place of a kernel of the device.
OPENREG_RUNTIME_API void run_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// The CPU's kernel of `Op` in a kernel of the device: `return host_call<at::_ops::relu>(self);`
/// Outputs are resized, new results are on the current device. Waits for the current stream. Errors: those of the CPU's kernel.
template <class Op, class... Args>
decltype(auto) host_call(Args&&... args) {
  return at::native::call_fallback_fn<&run_cpu_kernel, Op>::call(std::forward<Args>(args)...);
}

/// Whether `dtype` is one of those of a kernel; a kernel whose dtypes a spec names detours with all others.
inline bool is_one_of(at::ScalarType dtype, std::initializer_list<at::ScalarType> dtypes) {
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

// What components put in the place of parts of this while the library is loaded.

/// Bytes that a call copied to the host and back.
using CopiedBytes = std::pair<uint64_t, uint64_t>;

/// One run of the CPU's kernel in the device's place. Borrows the call.
struct HostRun {
  const c10::OperatorHandle& op;
  torch::jit::Stack* stack;
  bool fell_back;  // false: a kernel of the device asked for it, by host_call()
  bool copies;  // on copies of the arguments
};

/// Runs it, by run(), or refuses it; may name and count it.
using WatchHostRun = void(const HostRun& call, c10::function_ref<CopiedBytes()> run);
extern WatchHostRun* watch_host_run;

/// How far a random operator moves the device's generator: each draw has a seed of its own, so one step of the offset is enough.
constexpr uint64_t kNumbersPerDraw = 4;

/// Calls an operator with the host's tensors on a stack.
using CallCpuKernel = void(const c10::OperatorHandle& op, torch::jit::Stack* stack);
extern CallCpuKernel* cpu_kernel_call;

/// fall_back() for tensors that are more than plain memory, by a function that knows how; it has copies of its own.
using CpuRun = CopiedBytes(const c10::OperatorHandle& op, torch::jit::Stack* stack);
void fall_back_on_copies(const c10::OperatorHandle& op, torch::jit::Stack* stack, CpuRun* run);

}  // namespace openreg
