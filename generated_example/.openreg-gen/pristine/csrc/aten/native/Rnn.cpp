// Written by openreg-gen from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include <initializer_list>
#include <vector>

#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS  // TensorOperators.h would include all operators
#endif
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/Kernels.h"
#include "host/Tensors.h"

// nn.LSTM and nn.GRU on a device use these fused cells, which no CPU kernel can stand in for. Each computes on the host's
// tensors for its arguments (Note [Host code on device memory]). The workspace is theirs alone: forward leaves in it what
// backward needs.

namespace openreg::native {
namespace {

/// In float or wider: half precision is stored, not computed with. Undefined stays undefined.
at::Tensor wide(const at::Tensor& tensor) {
  const bool half = tensor.defined() && (tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16);
  return half ? tensor.to(at::kFloat) : tensor;
}

using Tensors = std::vector<at::Tensor>;

/// fn(arguments on the host, wide); what it returns has the dtype of the first argument.
template <class Fn>
Tensors cell(std::initializer_list<at::Tensor> arguments, Fn fn) {
  const c10::DeviceGuard guard(arguments.begin()->device());
  return with_host_tensors(arguments, [&](const Tensors& given) {
    Tensors host;
    for (const at::Tensor& tensor : given) {
      host.push_back(wide(tensor));
    }
    Tensors results = fn(host);
    for (at::Tensor& result : results) {
      result = result.defined() ? result.to(given[0].scalar_type()).contiguous() : result;
    }
    return results;
  });
}

at::Tensor plus(const at::Tensor& gates, const at::Tensor& bias) {
  return bias.defined() ? gates + bias : gates;
}

/// d loss / d x, given d loss / d sigmoid(x), or tanh(x), and the value s, or t, of that.
at::Tensor through_sigmoid(const at::Tensor& grad, const at::Tensor& s) { return grad * s * (1 - s); }
at::Tensor through_tanh(const at::Tensor& grad, const at::Tensor& t) { return grad * (1 - t * t); }

}  // namespace

Tensors3 _thnn_fused_lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
    const at::Tensor& cx, const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias) {
  const Tensors results = cell(
      {input_gates, hidden_gates, cx, input_bias.value_or(at::Tensor()), hidden_bias.value_or(at::Tensor())},
      [](const Tensors& host) -> Tensors {
        const auto gates = plus(plus(host[0] + host[1], host[3]), host[4]).chunk(4, 1);
        const at::Tensor in = gates[0].sigmoid();
        const at::Tensor forget = gates[1].sigmoid();
        const at::Tensor fresh = gates[2].tanh();
        const at::Tensor out = gates[3].sigmoid();
        const at::Tensor cy = forget * host[2] + in * fresh;
        return {out * cy.tanh(), cy, at::cat({in, forget, fresh, out}, 1)};
      });
  return {results[0], results[1], results[2]};
}

Tensors3 _thnn_fused_lstm_cell_backward_impl(const std::optional<at::Tensor>& grad_hy,
    const std::optional<at::Tensor>& grad_cy, const at::Tensor& cx, const at::Tensor& cy,
    const at::Tensor& workspace, bool has_bias) {
  const at::Tensor from_hy = grad_hy.value_or(at::Tensor());
  const at::Tensor from_cy = grad_cy.value_or(at::Tensor());
  if (!from_hy.defined() && !from_cy.defined()) {
    return {};
  }
  const Tensors results = cell({workspace, cx, cy, from_hy, from_cy}, [has_bias](const Tensors& host) -> Tensors {
    const auto gates = host[0].chunk(4, 1);
    const at::Tensor &in = gates[0], &forget = gates[1], &fresh = gates[2], &out = gates[3];
    const at::Tensor tanh_cy = host[2].tanh();
    const at::Tensor dhy = host[3].defined() ? host[3] : at::zeros_like(tanh_cy);
    const at::Tensor dcy = plus(through_tanh(dhy * out, tanh_cy), host[4]);
    const at::Tensor grad_gates =
        at::cat({through_sigmoid(dcy * fresh, in), through_sigmoid(dcy * host[1], forget),
                    through_tanh(dcy * in, fresh), through_sigmoid(dhy * tanh_cy, out)},
            1);
    return {grad_gates, dcy * forget, has_bias ? grad_gates.sum(0) : at::Tensor()};
  });
  return {results[0], results[1], results[2]};
}

Tensors2 _thnn_fused_gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
    const at::Tensor& hx, const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias) {
  const Tensors results = cell(
      {input_gates, hidden_gates, hx, input_bias.value_or(at::Tensor()), hidden_bias.value_or(at::Tensor())},
      [](const Tensors& host) -> Tensors {
        const auto from_input = plus(host[0], host[3]).chunk(3, 1);
        const auto from_hidden = plus(host[1], host[4]).chunk(3, 1);
        const at::Tensor reset = (from_input[0] + from_hidden[0]).sigmoid();
        const at::Tensor update = (from_input[1] + from_hidden[1]).sigmoid();
        const at::Tensor fresh = (from_input[2] + reset * from_hidden[2]).tanh();
        return {fresh + update * (host[2] - fresh), at::cat({reset, update, fresh, host[2], from_hidden[2]}, 1)};
      });
  return {results[0], results[1]};
}

Tensors5 _thnn_fused_gru_cell_backward(
    const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias) {
  const Tensors results = cell({grad_hy, workspace}, [has_bias](const Tensors& host) -> Tensors {
    const at::Tensor& grad = host[0];
    const auto saved = host[1].chunk(5, 1);
    const at::Tensor &reset = saved[0], &update = saved[1], &fresh = saved[2], &hx = saved[3],
                     &hidden = saved[4];
    const at::Tensor d_update = through_sigmoid(grad * (hx - fresh), update);
    const at::Tensor d_fresh = through_tanh(grad * (1 - update), fresh);
    const at::Tensor d_reset = through_sigmoid(d_fresh * hidden, reset);
    const at::Tensor d_input = at::cat({d_reset, d_update, d_fresh}, 1);
    const at::Tensor d_hidden = at::cat({d_reset, d_update, d_fresh * reset}, 1);
    return {d_input, d_hidden, grad * update, has_bias ? d_input.sum(0) : at::Tensor(),
        has_bias ? d_hidden.sum(0) : at::Tensor()};
  });
  return {results[0], results[1], results[2], results[3], results[4]};
}

}  // namespace openreg::native
