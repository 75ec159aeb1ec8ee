// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
// aten::hypot.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
#include <ATen/Dispatch_v2.h>
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/hypot_meta.h>
#include <ATen/ops/hypot_ops.h>

#include "aten/Structured.h"
#include "aten/native/DeviceLoop.h"
#include "host/Fallback.h"

namespace openreg::native {
namespace {

// The spec's expression, for each element.
void hypot_out_kernel(at::TensorIteratorBase& iter, const OperandOrder& order) {
  AT_DISPATCH_V2(iter.common_dtype(), "hypot", AT_WRAP([&] {
    device_kernel<scalar_t>(iter, []([[maybe_unused]] compute_t<scalar_t> self, [[maybe_unused]] compute_t<scalar_t> other) { return std::hypot(self, other); }, order);
  }),
      at::kHalf, at::kBFloat16, at::kFloat, at::kDouble);
}

struct hypot_out : at::meta::structured_hypot {
  void impl(const at::Tensor& self, const at::Tensor& other, const at::Tensor&) {
    at::Tensor out = maybe_get_output(0);
    if (!is_one_of(common_dtype(), {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble})) {
      detour<at::_ops::hypot_out>(self, other, out);
      return;
    }
    const OperandOrder order = operand_order(*this, "hypot.out", {self, other});
    hypot_out_kernel(*this, order);
  }
};

}  // namespace

OPENREG_STRUCTURED_KERNEL("hypot.out", at::_ops::hypot_out, hypot_out, "pointwise");
OPENREG_STRUCTURED_FORM("hypot", at::_ops::hypot, hypot_out, "hypot.out", "pointwise");
OPENREG_STRUCTURED_FORM("hypot_", at::_ops::hypot_, hypot_out, "hypot.out", "pointwise");

}  // namespace openreg::native
