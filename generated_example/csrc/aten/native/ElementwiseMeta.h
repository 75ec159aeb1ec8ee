// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `custom_ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::native {

/// What elementwise_iterator() would allocate for tensors without data, whose sizes may be symbols: TensorIterator
/// knows none. torch.compile and torch.export call operators so when sizes are dynamic.
at::Tensor elementwise_meta(at::ArrayRef<at::Tensor> inputs);

}  // namespace openreg::native
