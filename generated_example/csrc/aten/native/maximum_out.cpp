// Owned by you: openreg-gen wrote it once, and never will again.
// Move or rename it as you like; it is found by this mark: [openreg-gen aten::maximum.out]
// aten::maximum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
#include <ATen/Dispatch_v2.h>
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/maximum_meta.h>
#include <ATen/ops/maximum_ops.h>

#include "aten/Structured.h"
#include "aten/native/DeviceLoop.h"

namespace openreg::native {

// PyTorch's meta() runs first: the outputs have their sizes, dtypes and devices, and the device is the current one.
struct maximum_out : at::meta::structured_maximum {
  void impl(const at::Tensor& self, const at::Tensor& other, const at::Tensor& out);
};

void maximum_out::impl(const at::Tensor&, const at::Tensor&, const at::Tensor&) {
  AT_DISPATCH_V2(common_dtype(), "maximum", AT_WRAP([&] {
    device_kernel<scalar_t>(*this, []([[maybe_unused]] compute_t<scalar_t> self, [[maybe_unused]] compute_t<scalar_t> other) { return at::_isnan(self) || self > other ? self : other; });
  }),
      AT_EXPAND(AT_ALL_TYPES), at::kBool, at::kHalf, at::kBFloat16);
}

OPENREG_STRUCTURED_KERNEL("maximum.out", at::_ops::maximum_out, maximum_out, "structured");
OPENREG_STRUCTURED_FORM("maximum", at::_ops::maximum, maximum_out, "maximum.out", "structured");

}  // namespace openreg::native
