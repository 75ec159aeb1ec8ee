// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/OpMathType.h>
#include <ATen/ops/_native_batch_norm_legit_ops.h>
#include <ATen/ops/batch_norm_update_stats_ops.h>
#include <ATen/ops/native_batch_norm_ops.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/Kernels.h"
#include "host/Kernel.h"

// The CPU's kernels for batch normalization. In training they write the running statistics, although their schemas don't
// say so: host/Fallback.cpp knows. In eval the CPU returns no statistics, where other devices return what they computed
// with; torch.compile and export see the latter (torch/_decomp).

namespace openreg::native {
namespace {

/// Results of the CPU's kernel in eval, with the statistics that other devices return.
Tensors3 with_statistics(
    const Tensors3& results, const at::Tensor& input, const at::Tensor& mean, const at::Tensor& var, double eps) {
  const at::ScalarType wide = at::toOpMathType(input.scalar_type());
  return {std::get<0>(results), mean.to(wide, /*non_blocking=*/false, /*copy=*/true),
      var.to(wide).add(eps).sqrt().reciprocal()};
}

}  // namespace

Tensors3 native_batch_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, bool training, double momentum, double eps) {
  const c10::DeviceGuard guard(input.device());
  const Tensors3 results = host_call<at::_ops::native_batch_norm>(
      input, weight, bias, running_mean, running_var, training, momentum, eps);
  return training ? results : with_statistics(results, input, *running_mean, *running_var, eps);
}

Tensors3 _native_batch_norm_legit(const at::Tensor& input, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, at::Tensor& running_mean, at::Tensor& running_var, bool training,
    double momentum, double eps) {
  const c10::DeviceGuard guard(input.device());
  const Tensors3 results = host_call<at::_ops::_native_batch_norm_legit>(
      input, weight, bias, running_mean, running_var, training, momentum, eps);
  return training ? results : with_statistics(results, input, running_mean, running_var, eps);
}

Tensors2 batch_norm_update_stats(const at::Tensor& input, const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, double momentum) {
  const c10::DeviceGuard guard(input.device());
  return host_call<at::_ops::batch_norm_update_stats>(input, running_mean, running_var, momentum);
}

}  // namespace openreg::native
