// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/native_group_norm_ops.h>
#include <ATen/ops/native_layer_norm_ops.h>
#include <ATen/DeviceGuard.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include "host/Fallback.h"
#include "aten/Signature.h"
#include "aten/Structured.h"
#include "aten/native/Kernels.h"

// Operators of the spec whose names begin with 'n': kernels with the operator's own signature, detours to the
// CPU, errors that say it can't run. A letter a file: a new operator makes few of them compile again.

namespace openreg {
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL_BOXED(m, "native_group_norm", at::_ops::native_group_norm, &cpu_detour);
  OPENREG_IMPL_BOXED(m, "native_layer_norm", at::_ops::native_layer_norm, &cpu_detour);
}

}  // namespace openreg
