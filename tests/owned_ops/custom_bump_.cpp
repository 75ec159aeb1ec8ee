#include <ATen/core/Tensor.h>

namespace openreg::native {

at::Tensor& custom_bump_(at::Tensor& x, int64_t by) { return x.add_(by); }

at::Tensor& custom_bump__meta(at::Tensor& x, c10::SymInt) { return x; }

}  // namespace openreg::native
