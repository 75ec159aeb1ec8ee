#include <ATen/core/Tensor.h>

namespace openreg::native {

void custom_bump(at::Tensor& x, int64_t by) { x.add_(by); }

void custom_bump_meta(at::Tensor&, int64_t) {}

}  // namespace openreg::native
