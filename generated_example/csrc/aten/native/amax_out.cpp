// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
// aten::amax.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)
#include <ATen/Dispatch_v2.h>
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/amax_meta.h>
#include <ATen/ops/amax_ops.h>

#include "aten/Structured.h"
#include "aten/native/Reduce.h"
#include "host/Fallback.h"

namespace openreg::native {
namespace {

/// The spec's expressions, over elements of scalar_t.
template <class scalar_t>
void amax_out_fold(const at::Tensor& out, const at::Tensor& input, at::IntArrayRef dims) {
  using acc_t = compute_t<scalar_t>;
  using Limits = std::numeric_limits<scalar_t>;
  [[maybe_unused]] const auto lowest = static_cast<acc_t>(Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
  [[maybe_unused]] const auto highest = static_cast<acc_t>(Limits::has_infinity ? Limits::infinity() : Limits::max());
  reduce_kernel<scalar_t>(
      out, input, dims, static_cast<acc_t>(lowest),
      [](acc_t self) { return self; },
      [](acc_t a, acc_t b) { return a != a || a > b ? a : b; },
      [](acc_t acc, [[maybe_unused]] acc_t count) { return acc; });
}

struct amax_out : at::meta::structured_amax {
  void impl(const at::Tensor& self, at::IntArrayRef dim, [[maybe_unused]] bool keepdim, const at::Tensor&) {
    at::Tensor out = maybe_get_output(0);
    if (!is_one_of(maybe_get_output(0).scalar_type(), {at::kByte, at::kInt, at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble})) {
      detour<at::_ops::amax_out>(self, dim, keepdim, out);
      return;
    }
    const at::Tensor& output = maybe_get_output(0);
    const at::Tensor input = reduction_input(self, output);
    AT_DISPATCH_V2(input.scalar_type(), "amax", AT_WRAP([&] { amax_out_fold<scalar_t>(output, input, dim); }),
        at::kByte, at::kInt, at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble);
  }
};

}  // namespace

OPENREG_STRUCTURED_KERNEL("amax.out", at::_ops::amax_out, amax_out, "reduction");
OPENREG_STRUCTURED_FORM("amax", at::_ops::amax, amax_out, "amax.out", "reduction");

}  // namespace openreg::native
