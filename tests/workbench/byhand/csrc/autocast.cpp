#include <ATen/autocast_mode.h>

namespace at {

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  KERNEL_PRIVATEUSEONE(mm, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(linear, lower_precision_fp)
  KERNEL_PRIVATEUSEONE(exp, fp32)
  KERNEL_PRIVATEUSEONE(logaddexp, fp32)
  KERNEL_PRIVATEUSEONE(sum, dim_IntList, fp32_set_opt_dtype)
  KERNEL_PRIVATEUSEONE(addcmul, promote)
}

}  // namespace at
