// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
// aten::hypot.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
#include <ATen/DeviceGuard.h>
#include <ATen/Dispatch_v2.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/hypot_meta.h>
#include <ATen/ops/hypot_ops.h>

#include "aten/Signature.h"
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

struct hypot_out_operator : at::meta::structured_hypot {};

void hypot_out_run(hypot_out_operator& op, const at::Tensor& self, const at::Tensor& other) {
  op.meta(self, other);
  if (!is_one_of(op.common_dtype(), {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble})) {
    at::Tensor out = op.maybe_get_output(0);
    detour<at::_ops::hypot_out>(self, other, out);
    return;
  }
  const OperandOrder order = operand_order(op, "hypot.out", {self, other});
  hypot_out_kernel(op, order);
}

at::Tensor& hypot_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  StructuredOut<hypot_out_operator, 1> op(out);
  hypot_out_run(op, self, other);
  op.write_back();
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "hypot.out", at::_ops::hypot_out, hypot_out, "pointwise");
  OPENREG_IMPL_FORM(m, "hypot", at::_ops::hypot, Functional, hypot_out_run, "aten::hypot.out", "pointwise");
  OPENREG_IMPL_FORM(m, "hypot_", at::_ops::hypot_, InPlace, hypot_out_run, "aten::hypot.out", "pointwise");
}

}  // namespace openreg::native
