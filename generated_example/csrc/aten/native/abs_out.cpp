// Owned by you: openreg-gen wrote it once, and never will again.
// Move or rename it as you like; it is found by this mark: [openreg-gen aten::abs.out]
// aten::abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!): PyTorch's kernel checks, allocates and calls abs_stub; what that runs is here.
#include <ATen/Dispatch_v2.h>
#include <ATen/native/UnaryOps.h>

#include "aten/native/DeviceLoop.h"
#include "host/Kernel.h"

namespace openreg::native {
namespace {

void abs_out_kernel(at::TensorIteratorBase& iter) {
  // The CPU's function computes other dtypes.
  if (!is_one_of(iter.common_dtype(), {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble})) {
    return HostStub<at::native::abs_stub, true>::run(iter);
  }
  AT_DISPATCH_V2(iter.common_dtype(), "abs", AT_WRAP([&] {
    device_kernel<scalar_t>(iter, []([[maybe_unused]] compute_t<scalar_t> self) { return std::abs(self); });
  }),
      AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), at::kHalf, at::kBFloat16);
}

}  // namespace
}  // namespace openreg::native

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(abs_stub, &openreg::native::abs_out_kernel)
}  // namespace at::native
