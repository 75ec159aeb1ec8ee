// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "host/Kernel.h"

#include <ATen/ops/_index_put_impl_ops.h>

namespace openreg::native {

void host_index_put(at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices, const at::Tensor& values,
    bool accumulate, bool unsafe) {
  static_cast<void>(host_call<at::_ops::_index_put_impl_>(self, indices, values, accumulate, unsafe));
}

}  // namespace openreg::native
