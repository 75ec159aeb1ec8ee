// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/native/CPUFallback.h>

// Note [Falling back to the CPU]
// An operator without a kernel here can still run: its tensors are copied to the host, PyTorch's CPU kernel runs, and
// the results are copied back. That is slow, but right for anything that is defined by values. It can't work for
// views (a copy does not alias), for factories (there is nothing to copy) or where the CPU has no kernel.
// Random operators go another way, random_detour: their numbers have to come from the device's generator.
//
// OPENREG_LOG_FALLBACK=1 in the environment names each operator that fell back, once; =0 keeps silent.

namespace openreg {

/// The CPU's kernel on copies of the arguments. Errors: those of the CPU's kernel; c10::Error for a view. Threads: any.
void cpu_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// cpu_detour for operators with a `Generator? generator` argument: the CPU's kernel draws from a generator that is
/// derived from the given one, or from the device's default one, which moves on.
void random_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// cpu_detour from a kernel with a signature: `return detour<at::_ops::relu>(self);`
template <class Op, class... Args>
decltype(auto) detour(Args&&... args) {
  return at::native::call_fallback_fn<&cpu_detour, Op>::call(std::forward<Args>(args)...);
}

}  // namespace openreg
