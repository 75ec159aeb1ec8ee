// Written by openreg-gen 0.1.0 from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/ops/batch_norm_update_stats.h>
#include <ATen/ops/native_batch_norm.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/HostKernel.h"
#include "aten/native/Kernels.h"

// Batch normalization in training writes the running statistics, but its schema doesn't say so: the CPU
// fallback copies back what a schema marks as written, (a!), so it would lose them, and a trained network
// would fail in eval().

namespace openreg::native {
namespace {

std::optional<at::Tensor> on_cpu(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? std::optional<at::Tensor>(tensor->to(at::kCPU))
                                                 : std::nullopt;
}

void write_back(const std::optional<at::Tensor>& device, const std::optional<at::Tensor>& host) {
  if (host.has_value()) {
    device->copy_(*host);
  }
}

}  // namespace

Tensors3 native_batch_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, bool training, double momentum, double eps) {
  const c10::DeviceGuard guard(input.device());
  if (kernels_reach_memory()) {
    return host_call<at::_ops::native_batch_norm>(
        input, weight, bias, running_mean, running_var, training, momentum, eps);
  }
  const auto mean = on_cpu(running_mean);
  const auto var = on_cpu(running_var);
  const auto [out, save_mean, save_invstd] = at::native_batch_norm(
      input.to(at::kCPU), on_cpu(weight), on_cpu(bias), mean, var, training, momentum, eps);
  if (training) {
    write_back(running_mean, mean);
    write_back(running_var, var);
  }
  return {out.to(input.device()), save_mean.to(input.device()), save_invstd.to(input.device())};
}

Tensors2 batch_norm_update_stats(const at::Tensor& input, const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, double momentum) {
  const c10::DeviceGuard guard(input.device());
  if (kernels_reach_memory()) {
    return host_call<at::_ops::batch_norm_update_stats>(input, running_mean, running_var, momentum);
  }
  const auto mean = on_cpu(running_mean);
  const auto var = on_cpu(running_var);
  const auto [save_mean, save_var] = at::batch_norm_update_stats(input.to(at::kCPU), mean, var, momentum);
  write_back(running_mean, mean);
  write_back(running_var, var);
  return {save_mean.to(input.device()), save_var.to(input.device())};
}

}  // namespace openreg::native
