// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include "aten/native/AttentionMath.h"

#include <cmath>
#include <limits>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ExpandUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

namespace openreg::native {
namespace {

/// For half precision in float, as fused kernels add up in float, too.
at::Tensor widened(const at::Tensor& tensor) {
  return tensor.to(at::toOpMathType(tensor.scalar_type()));
}

/// A head for each head of the query: grouped queries share those of key and value.
at::Tensor heads_of(const at::Tensor& tensor, const at::Tensor& query) {
  const at::Tensor wide = widened(tensor);
  const int64_t groups = tensor.size(1);
  const int64_t shared = query.size(1) / groups;
  return shared == 1 ? wide
                     : wide.unsqueeze(2)
                           .expand({wide.size(0), groups, shared, wide.size(2), wide.size(3)})
                           .reshape({wide.size(0), query.size(1), wide.size(2), wide.size(3)});
}

/// What was computed, with the dtype and the strides of `tensor`: PyTorch says so of gradients to torch.compile.
at::Tensor as(const at::Tensor& tensor, const at::Tensor& computed) {
  return at::empty_like(tensor).copy_(computed);
}

/// The gradient of what heads_of() made.
at::Tensor sum_heads(const at::Tensor& grad, const at::Tensor& tensor) {
  const int64_t groups = tensor.size(1);
  const at::Tensor sum = grad.size(1) == groups
      ? grad
      : grad.reshape({grad.size(0), groups, grad.size(1) / groups, grad.size(2), grad.size(3)}).sum(2);
  return as(tensor, sum);
}

double factor_of(const at::Tensor& query, std::optional<double> scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

/// The weights of the values, and the logarithm of what they were divided by; no weights where all is masked.
std::tuple<at::Tensor, at::Tensor> weights_of(const at::Tensor& query, const at::Tensor& key, const at::Tensor& bias,
    bool is_causal, double factor) {
  constexpr double masked = -std::numeric_limits<double>::infinity();
  at::Tensor scores = at::matmul(widened(query), heads_of(key, query).transpose(-2, -1)) * factor;
  if (is_causal) {
    const at::Tensor later =
        at::ones({query.size(2), key.size(2)}, at::TensorOptions(at::kBool).device(query.device())).triu(1);
    scores = scores.masked_fill(later, masked);
  }
  if (bias.defined()) {
    scores = scores + bias;
  }
  const at::Tensor logsumexp = at::logsumexp(scores, -1);
  const at::Tensor subtracted = logsumexp.masked_fill(logsumexp == masked, 0);
  return {(scores - subtracted.unsqueeze(-1)).exp(), logsumexp};
}

/// What dropout multiplies the weights by: 0, or what makes up for the dropped. Of one seed always the same.
at::Tensor kept(const at::Tensor& weights, double dropout_p, const at::Tensor& seed) {
  at::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(seed.item<int64_t>()));
  const at::Tensor chosen = at::empty(weights.sizes(), at::TensorOptions(weights.scalar_type()).device(at::kCPU))
                                .bernoulli_(1 - dropout_p, generator);
  return chosen.to(weights.device()) * (dropout_p < 1 ? 1 / (1 - dropout_p) : 0);
}

}  // namespace

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt, at::Tensor, at::Tensor, at::Tensor>
attention_by_math(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_bias, double dropout_p, bool is_causal, bool /*return_debug_mask*/,
    std::optional<double> scale) {
  auto [weights, logsumexp] =
      weights_of(query, key, attn_bias.value_or(at::Tensor()), is_causal, factor_of(query, scale));
  const auto number = at::TensorOptions(at::kLong).device(query.device());
  at::Tensor seed = at::zeros({}, number);
  if (dropout_p > 0) {
    seed.random_();  // by the device's generator
    weights = weights * kept(weights, dropout_p, seed);
  }
  const at::Tensor product = at::matmul(weights, heads_of(value, query));
  const bool alike = value.size(-1) == query.size(-1);
  const at::Tensor output = alike ? at::empty_like(query) : at::empty(product.sizes(), query.options());
  output.copy_(product);
  return {output, logsumexp.to(at::kFloat), at::Tensor(), at::Tensor(), query.size(2), key.size(2), seed,
      at::zeros({}, number), at::Tensor()};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> attention_backward_by_math(const at::Tensor& grad_out,
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& attn_bias,
    std::array<bool, 4> grad_input_mask, const at::Tensor& /*out*/, const at::Tensor& /*logsumexp*/,
    const at::Tensor& /*cum_seq_q*/, const at::Tensor& /*cum_seq_k*/, int64_t /*max_q*/, int64_t /*max_k*/,
    double dropout_p, bool is_causal, const at::Tensor& philox_seed, const at::Tensor& /*philox_offset*/,
    std::optional<double> scale) {
  if (!grad_out.defined()) {
    return {};
  }
  const double factor = factor_of(query, scale);
  const at::Tensor weights = std::get<0>(weights_of(query, key, attn_bias, is_causal, factor));
  const at::Tensor grad = widened(grad_out);
  at::Tensor grad_weights = at::matmul(grad, heads_of(value, query).transpose(-2, -1));
  at::Tensor used = weights;
  if (dropout_p > 0) {
    const at::Tensor keep = kept(weights, dropout_p, philox_seed);
    used = weights * keep;
    grad_weights = grad_weights * keep;
  }
  const at::Tensor grad_scores = weights * (grad_weights - (grad_weights * weights).sum(-1, /*keepdim=*/true));
  at::Tensor grad_query, grad_key, grad_value, grad_bias;
  if (grad_input_mask[0]) {
    grad_query = as(query, at::matmul(grad_scores, heads_of(key, query)) * factor);
  }
  if (grad_input_mask[1]) {
    grad_key = sum_heads(at::matmul(grad_scores.transpose(-2, -1), widened(query)) * factor, key);
  }
  if (grad_input_mask[2]) {
    grad_value = sum_heads(at::matmul(used.transpose(-2, -1), grad), value);
  }
  if (grad_input_mask[3] && attn_bias.defined()) {
    grad_bias = as(attn_bias, at::sum_to(grad_scores, attn_bias.sizes()));
  }
  return {grad_query, grad_key, grad_value, grad_bias};
}

}  // namespace openreg::native
