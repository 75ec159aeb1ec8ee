// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <optional>

#include <ATen/native/CPUFallback.h>

// Note [Falling back to the CPU]
// An operator without a kernel here can still run by PyTorch's CPU kernel, in one of two ways:
//   cpu    on copies: tensors are copied to the host, the results back. Slow, but right for all that is defined by
//          values. Views can't: a copy does not alias.
//   alias  on the device's memory, which the kernel reaches from a stream's thread: see HostAlias.h. Nothing is copied
//          but a new result, once; views work. On a device that can't do that, it is the same as cpu.
// `fallback` in openreg.yaml says which, `ops.*.fallback` for a single operator. OPENREG_FALLBACK in the
// environment, none, cpu or alias, overrides both: `none` finds what has no kernel. OPENREG_LOG_FALLBACK=1 names each
// operator that falls back, once; =0 keeps silent. The cost is counted: see FallbackReport.h.
//
// Random operators draw from the device's generator in any case: the CPU's kernel gets one that is derived from it.
// An operator that has no CPU kernel either can't fall back, and one whose tensors are on several devices must not.

namespace openreg {

enum class FallbackKind {
  kNone,  // an error
  kCpu,
  kAlias,
};

/// Runs `op` on the CPU as `kind` and the environment say. Throws NotImplementedError if it says none, or where the
/// operator can't; c10::Error for tensors on several devices; what the CPU kernel throws. Threads: any.
void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack, FallbackKind kind);

/// The boxed kernel of an operator that falls back in a way of its own.
template <FallbackKind kind>
void fallback_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  fall_back(op, stack, kind);
}

/// fall_back() for kernels that have nothing better yet: as `fallback` in openreg.yaml says, and by copying where that
/// is none.
void cpu_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// cpu_detour from a kernel with a signature: `return detour<at::_ops::relu>(self);`
template <class Op, class... Args>
decltype(auto) detour(Args&&... args) {
  return at::native::call_fallback_fn<&cpu_detour, Op>::call(std::forward<Args>(args)...);
}

}  // namespace openreg
