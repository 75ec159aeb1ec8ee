// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/_sample_dirichlet_ops.h>
#include <ATen/ops/_standard_gamma_ops.h>
#include <ATen/ops/addr_ops.h>
#include <ATen/ops/all_ops.h>
#include <ATen/ops/any_ops.h>
#include <ATen/ops/bernoulli_ops.h>
#include <ATen/ops/binomial_ops.h>
#include <ATen/ops/cauchy_ops.h>
#include <ATen/ops/exponential_ops.h>
#include <ATen/ops/geometric_ops.h>
#include <ATen/ops/log_normal_ops.h>
#include <ATen/ops/mode_ops.h>
#include <ATen/ops/multinomial_ops.h>
#include <ATen/ops/native_group_norm_ops.h>
#include <ATen/ops/native_layer_norm_ops.h>
#include <ATen/ops/normal_ops.h>
#include <ATen/ops/poisson_ops.h>
#include <ATen/ops/random_ops.h>
#include <ATen/ops/randperm_ops.h>
#include <ATen/ops/rrelu_with_noise_ops.h>
#include <ATen/ops/sub_ops.h>
#include <ATen/ops/uniform_ops.h>

#include "aten/Signature.h"
#include "host/Fallback.h"

// Operators without a kernel that the fallback for all others does not serve: those that the spec sends to the CPU or
// refuses, and random ones. These draw on the CPU, from the device's generator: the plain fallback would draw from the
// CPU's, and torch.manual_seed, fork_rng and generator= would not reach it.

namespace openreg {
namespace {

void poisson(const c10::OperatorHandle&, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "aten::poisson is not supported on openreg: ", "the device has no Poisson sampler");
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL_BOXED(m, "sub.Tensor", at::_ops::sub_Tensor, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "addr", at::_ops::addr, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "addr.out", at::_ops::addr_out, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "addr_", at::_ops::addr_, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "all.dims_out", at::_ops::all_dims_out, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "any.dims_out", at::_ops::any_dims_out, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "mode.values", at::_ops::mode_values, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "native_group_norm", at::_ops::native_group_norm, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "native_layer_norm", at::_ops::native_layer_norm, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "_sample_dirichlet", at::_ops::_sample_dirichlet, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "_standard_gamma", at::_ops::_standard_gamma, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "bernoulli.out", at::_ops::bernoulli_out, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "bernoulli_.Tensor", at::_ops::bernoulli__Tensor, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "bernoulli_.float", at::_ops::bernoulli__float, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "binomial", at::_ops::binomial, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "cauchy_", at::_ops::cauchy_, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "exponential_", at::_ops::exponential_, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "geometric_", at::_ops::geometric_, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "log_normal_", at::_ops::log_normal_, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "multinomial", at::_ops::multinomial, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "multinomial.out", at::_ops::multinomial_out, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "normal.Tensor_Tensor", at::_ops::normal_Tensor_Tensor, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "normal.Tensor_Tensor_out", at::_ops::normal_Tensor_Tensor_out, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "normal.Tensor_float", at::_ops::normal_Tensor_float, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "normal.Tensor_float_out", at::_ops::normal_Tensor_float_out, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "normal.float_Tensor", at::_ops::normal_float_Tensor, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "normal.float_Tensor_out", at::_ops::normal_float_Tensor_out, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "normal_", at::_ops::normal_, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "random_", at::_ops::random_, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "random_.from", at::_ops::random__from, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "random_.to", at::_ops::random__to, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "randperm.generator_out", at::_ops::randperm_generator_out, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "rrelu_with_noise", at::_ops::rrelu_with_noise, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "rrelu_with_noise.out", at::_ops::rrelu_with_noise_out, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "rrelu_with_noise_", at::_ops::rrelu_with_noise_, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "uniform_", at::_ops::uniform_, &cpu_detour, "minimal");
  OPENREG_IMPL_BOXED(m, "poisson", at::_ops::poisson, &poisson);
}

}  // namespace openreg
