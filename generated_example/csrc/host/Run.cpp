// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Run.h"

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/GradMode.h>

namespace openreg {

void (*cpu_kernel_call)(const c10::OperatorHandle&, torch::jit::Stack*) =
    [](const c10::OperatorHandle& op, torch::jit::Stack* stack) { op.callBoxed(stack); };

void (*capture_cpu_kernel)(const c10::OperatorHandle&, torch::jit::Stack*, uint64_t) = nullptr;

struct CpuKernelScope::State {
  c10::NoGradGuard no_grad;
  at::AutoDispatchBelowADInplaceOrView below_autograd;
};

CpuKernelScope::CpuKernelScope(int threads) : state_(new State) {
  // Setting the number is costly, and most often it is right already.
  if (threads > 0 && at::get_num_threads() != threads) {
    at::set_num_threads(threads);
  }
}

CpuKernelScope::~CpuKernelScope() { delete state_; }

}  // namespace openreg
