// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include <optional>

#include <ATen/ops/_copy_from_ops.h>
#include <ATen/ops/_empty_affine_quantized_ops.h>
#include <torch/library.h>

#include "aten/Signature.h"
#include "host/Compound.h"

// See Note [Compound tensors] in host/Compound.h.

namespace openreg {
namespace {

/// Operators for which the CPU has a kernel of the kind fall back even where PyTorch would compose them of others.
void take_over(torch::Library& library, c10::DispatchKey cpu_key) {
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const std::optional<c10::OperatorHandle> op = c10::Dispatcher::singleton().findOp(name);
    const bool ours = name.name == "aten::_empty_affine_quantized";
    if (!ours && name.getNamespace() == "aten" && op.has_value() && op->hasKernelForDispatchKey(cpu_key)) {
      library.impl(c10::toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&compound_fallback>());
    }
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&compound_fallback>()); }
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&compound_fallback>()); }
TORCH_LIBRARY_IMPL(_, NestedTensorPrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&compound_fallback>()); }
TORCH_LIBRARY_IMPL(_, QuantizedPrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&compound_fallback>()); }

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) { take_over(m, c10::DispatchKey::SparseCPU); }
TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) { take_over(m, c10::DispatchKey::SparseCsrCPU); }
TORCH_LIBRARY_IMPL(aten, NestedTensorPrivateUse1, m) { take_over(m, c10::DispatchKey::NestedTensorCPU); }
TORCH_LIBRARY_IMPL(aten, QuantizedPrivateUse1, m) {
  take_over(m, c10::DispatchKey::QuantizedCPU);
  OPENREG_IMPL(m, "_empty_affine_quantized", at::_ops::_empty_affine_quantized, empty_quantized, "minimal");
  OPENREG_IMPL(m, "_copy_from", at::_ops::_copy_from, copy_quantized, "minimal");
}

}  // namespace openreg
