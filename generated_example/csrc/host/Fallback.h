// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include <ATen/native/CPUFallback.h>
#include <c10/core/ScalarType.h>

#include "runtime/Export.h"

// Note [Falling back to the CPU]
// An operator without a kernel here runs PyTorch's CPU kernel (Note [Host code on device memory]):
//   alias  on the device's memory, with component host_alias: only a new result is copied, once
//   copy   on copies: the arguments are copied to the host, the results and written arguments back
//   cpu    alias with that component if launched functions reach device memory, otherwise copy

// `fallback` in openreg.yaml chooses, `ops.*.fallback` for a single operator. OPENREG_FALLBACK in the environment,
// one of these words or none, overrides both: use `none` to find operators without a device kernel, including first versions
// that run on copies (Note [What the host computes] in Work.h). OPENREG_LOG_FALLBACK=1 names each operator that falls back, once;
// =0 keeps silent.
//
// Random operators always draw from the device's generator: the CPU's kernel gets one that is derived from it.
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

/// Whether operators that the host computes are named, once each, and the warning that does so: `op` and `what` of it.
bool logs_fallbacks();
void log_once(const std::string& op, const char* what);

/// Runs `op` on the CPU as `kind` and the environment say. Throws NotImplementedError if it says none, or where the
/// operator can't; c10::Error for tensors on several devices; what the CPU kernel throws. Threads: any.
OPENREG_RUNTIME_API void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack, FallbackKind kind);

/// How a call runs on the CPU. Returns the bytes that it copied to the host and back. Errors: the CPU kernel's.
using CpuRun = std::pair<uint64_t, uint64_t>(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// The same for tensors that are more than plain memory, by the function that knows how: see Note [Compound tensors].
void fall_back_on_copies(const c10::OperatorHandle& op, torch::jit::Stack* stack, CpuRun* run);

/// The boxed kernel of an operator that falls back in a way of its own.
template <FallbackKind kind>
void fallback_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  fall_back(op, stack, kind);
}

/// fall_back() for kernels that have nothing better yet: as `fallback` in openreg.yaml says, and as `cpu` where that is
/// none.
OPENREG_RUNTIME_API void cpu_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// The CPU's kernel in the place of a kernel of the device: see Note [What the host computes] in Work.h.
/// On the device's own memory (component host_alias) it stays that whatever the environment says of falling back, and is not
/// counted.
OPENREG_RUNTIME_API void run_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// cpu_detour, or another of these, from a kernel with a signature: `return detour<at::_ops::relu>(self);`
template <class Op, auto fallback_fn = &cpu_detour, class... Args>
decltype(auto) detour(Args&&... args) {
  return at::native::call_fallback_fn<fallback_fn, Op>::call(std::forward<Args>(args)...);
}

/// Whether `dtype` is one of those of a kernel; a kernel whose dtypes a spec names detours with all others.
inline bool is_one_of(at::ScalarType dtype, std::initializer_list<at::ScalarType> dtypes) {
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

}  // namespace openreg
