// Written by openreg-gen from openreg.yaml.
// Owned: yours to edit; openreg-gen never writes it again.
// Move or rename it as you like; it is found by this mark: [openreg-gen aten::maximum.out]
// aten::maximum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
#include <ATen/Dispatch_v2.h>

#include "aten/native/DeviceLoop.h"
#include "aten/native/maximum_out.h"

namespace openreg::native {

// Called with meta() done: the outputs have their sizes, dtypes and devices, and the device is the current one.
void maximum_out::impl(const at::Tensor&, const at::Tensor&, const at::Tensor&) {
  AT_DISPATCH_V2(common_dtype(), "maximum", AT_WRAP([&] {
    device_kernel<scalar_t>(*this, []([[maybe_unused]] compute_t<scalar_t> self, [[maybe_unused]] compute_t<scalar_t> other) { return at::_isnan(self) || self > other ? self : other; });
  }),
      AT_EXPAND(AT_ALL_TYPES), at::kBool, at::kHalf, at::kBFloat16);
}

}  // namespace openreg::native
