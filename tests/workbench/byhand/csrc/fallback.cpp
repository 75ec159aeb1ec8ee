// What has no kernel: the CPU computes it, or it is refused.
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

namespace byhand {
namespace {

void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { at::native::cpu_fallback(op, stack); }

void poisson(const c10::OperatorHandle&, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "byhand has no sampler of Poisson's distribution");
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("sub.Tensor", torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
  m.impl("square", torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
  m.impl("poisson", torch::CppFunction::makeFromBoxedFunction<&poisson>());
}

}  // namespace byhand
