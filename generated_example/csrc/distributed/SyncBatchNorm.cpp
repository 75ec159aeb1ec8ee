// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/OpMathType.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/batch_norm_backward_elemt_ops.h>
#include <ATen/ops/batch_norm_backward_reduce_ops.h>
#include <ATen/ops/batch_norm_elemt_ops.h>
#include <ATen/ops/batch_norm_gather_stats_with_counts_ops.h>
#include <ATen/ops/batch_norm_stats_ops.h>
#include <c10/util/irange.h>

#include "aten/Signature.h"

// What torch.nn.SyncBatchNorm calls: statistics of a rank's part of the batch, their mean over all ranks, and the same for
// the gradients. PyTorch has kernels of these operators for CUDA alone; here they consist of other operators. Statistics are
// in what half precision is computed in; dimension 1 is the channels'.

namespace openreg {
namespace {

using Tensors2 = std::tuple<at::Tensor, at::Tensor>;
using Tensors4 = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

at::Tensor widened(const at::Tensor& tensor) { return tensor.to(at::toOpMathType(tensor.scalar_type())); }

/// All dimensions but the channels'.
at::DimVector others(const at::Tensor& tensor) {
  at::DimVector dims{0};
  for (const auto dim : c10::irange(int64_t{2}, tensor.dim())) {
    dims.push_back(dim);
  }
  return dims;
}

/// A value per channel, to be broadcast over `like`.
at::Tensor per_channel(const at::Tensor& values, const at::Tensor& like) {
  at::DimVector sizes(static_cast<size_t>(like.dim()), 1);
  sizes[1] = -1;
  return values.view(sizes);
}

/// 1 / sqrt(var + eps)
at::Tensor inverse_deviation(const at::Tensor& var, double eps) { return var.add(eps).rsqrt(); }

Tensors2 batch_norm_stats(const at::Tensor& input, double eps) {
  const OperandsGuard guard(input);
  const at::Tensor wide = widened(input);
  const at::Tensor mean = wide.mean(others(input));
  const at::Tensor var = wide.sub(per_channel(mean, input)).square().mean(others(input));
  return {mean, inverse_deviation(var, eps)};
}

Tensors2 batch_norm_gather_stats_with_counts(const at::Tensor& input, const at::Tensor& mean, const at::Tensor& invstd,
    const std::optional<at::Tensor>& running_mean, const std::optional<at::Tensor>& running_var, double momentum, double eps,
    const at::Tensor& counts) {
  const OperandsGuard guard(input);
  const at::Tensor means = widened(mean);
  const at::Tensor count = counts.to(means.scalar_type()).unsqueeze(1);
  const at::Tensor all = count.sum();
  const at::Tensor whole = means.mul(count).sum(0).div(all);
  // The square sums of each rank about its own mean, and of that mean about the common one.
  const at::Tensor own = widened(invstd).square().reciprocal().sub(eps);
  const at::Tensor squares = own.add(means.sub(whole).square()).mul(count).sum(0);
  if (running_mean.has_value() && running_mean->defined()) {
    running_mean->mul_(1 - momentum).add_(whole, momentum);
  }
  if (running_var.has_value() && running_var->defined()) {
    running_var->mul_(1 - momentum).add_(squares.div(all.sub(1)), momentum);
  }
  return {whole, inverse_deviation(squares.div(all), eps)};
}

at::Tensor batch_norm_elemt(const at::Tensor& input, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, const at::Tensor& mean, const at::Tensor& invstd, double /*eps*/) {
  const OperandsGuard guard(input);
  at::Tensor out = widened(input).sub(per_channel(mean, input)).mul(per_channel(invstd, input));
  if (weight.has_value() && weight->defined()) {
    out = out.mul(per_channel(*weight, input));
  }
  if (bias.has_value() && bias->defined()) {
    out = out.add(per_channel(*bias, input));
  }
  return out.to(input.scalar_type());
}

Tensors4 batch_norm_backward_reduce(const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
    const at::Tensor& invstd, const std::optional<at::Tensor>& weight, bool input_g, bool weight_g, bool bias_g) {
  const OperandsGuard guard(grad_out, input);
  const at::Tensor grad = widened(grad_out);
  const at::Tensor sum_dy = grad.sum(others(input));
  const at::Tensor sum_dy_xmu = widened(input).sub(per_channel(mean, input)).mul(grad).sum(others(input));
  const at::ScalarType dtype = weight.has_value() && weight->defined() ? weight->scalar_type() : sum_dy.scalar_type();
  Tensors4 out;
  if (input_g) {
    std::get<0>(out) = sum_dy;
    std::get<1>(out) = sum_dy_xmu;
  }
  if (weight_g) {
    std::get<2>(out) = sum_dy_xmu.mul(invstd).to(dtype);
  }
  if (bias_g) {
    std::get<3>(out) = sum_dy.to(dtype, /*non_blocking=*/false, /*copy=*/true);
  }
  return out;
}

at::Tensor batch_norm_backward_elemt(const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
    const at::Tensor& invstd, const std::optional<at::Tensor>& weight, const at::Tensor& sum_dy, const at::Tensor& sum_dy_xmu,
    const at::Tensor& count) {
  const OperandsGuard guard(grad_out, input);
  const at::Tensor all = count.sum();
  const at::Tensor shift = per_channel(sum_dy.div(all), input);
  const at::Tensor slope = per_channel(sum_dy_xmu.div(all).mul(invstd.square()), input);
  const at::Tensor scale = weight.has_value() && weight->defined() ? invstd.mul(*weight) : invstd;
  const at::Tensor off = widened(input).sub(per_channel(mean, input));
  return widened(grad_out).sub(shift).sub(off.mul(slope)).mul(per_channel(scale, input)).to(input.scalar_type());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "batch_norm_stats", at::_ops::batch_norm_stats, batch_norm_stats, "minimal");
  OPENREG_IMPL(m, "batch_norm_gather_stats_with_counts", at::_ops::batch_norm_gather_stats_with_counts,
      batch_norm_gather_stats_with_counts, "minimal");
  OPENREG_IMPL(m, "batch_norm_elemt", at::_ops::batch_norm_elemt, batch_norm_elemt, "minimal");
  OPENREG_IMPL(m, "batch_norm_backward_reduce", at::_ops::batch_norm_backward_reduce, batch_norm_backward_reduce, "minimal");
  OPENREG_IMPL(m, "batch_norm_backward_elemt", at::_ops::batch_norm_backward_elemt, batch_norm_backward_elemt, "minimal");
}

}  // namespace openreg
