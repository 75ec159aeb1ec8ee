// Written by openreg-gen 0.1.0 from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
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

#include "aten/native/Host.h"
#include "aten/native/Kernels.h"

// nn.LSTM and nn.GRU on a device use these fused cells, which no CPU kernel can stand in for. Each copies its
// arguments to the host once, computes there, and copies the results back. The workspace is theirs alone:
// forward leaves in it what backward needs.

namespace openreg::native {
namespace {

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
  const c10::DeviceGuard guard(input_gates.device());
  const at::Tensor sum =
      plus(plus(to_host(input_gates) + to_host(hidden_gates), to_host(input_bias)), to_host(hidden_bias));
  const auto gates = sum.chunk(4, 1);
  const at::Tensor in = gates[0].sigmoid();
  const at::Tensor forget = gates[1].sigmoid();
  const at::Tensor cell = gates[2].tanh();
  const at::Tensor out = gates[3].sigmoid();
  const at::Tensor cy = forget * to_host(cx) + in * cell;
  const at::Tensor hy = out * cy.tanh();
  return {to_device(hy, cx), to_device(cy, cx), to_device(at::cat({in, forget, cell, out}, 1), cx)};
}

Tensors3 _thnn_fused_lstm_cell_backward_impl(const std::optional<at::Tensor>& grad_hy,
    const std::optional<at::Tensor>& grad_cy, const at::Tensor& cx, const at::Tensor& cy,
    const at::Tensor& workspace, bool has_bias) {
  const bool any = (grad_hy.has_value() && grad_hy->defined()) || (grad_cy.has_value() && grad_cy->defined());
  if (!any) {
    return {};
  }
  const c10::DeviceGuard guard(cx.device());
  const auto gates = to_host(workspace).chunk(4, 1);
  const at::Tensor &in = gates[0], &forget = gates[1], &cell = gates[2], &out = gates[3];
  const at::Tensor host_cx = to_host(cx);
  const at::Tensor tanh_cy = to_host(cy).tanh();
  at::Tensor dhy = to_host(grad_hy);
  dhy = dhy.defined() ? dhy : at::zeros_like(tanh_cy);
  const at::Tensor dcy = plus(through_tanh(dhy * out, tanh_cy), to_host(grad_cy));
  const at::Tensor grad_gates =
      at::cat({through_sigmoid(dcy * cell, in), through_sigmoid(dcy * host_cx, forget),
                  through_tanh(dcy * in, cell), through_sigmoid(dhy * tanh_cy, out)},
          1);
  const at::Tensor grad_bias = has_bias ? grad_gates.sum(0) : at::Tensor();
  return {to_device(grad_gates, workspace), to_device(dcy * forget, cx), to_device(grad_bias, workspace)};
}

Tensors2 _thnn_fused_gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
    const at::Tensor& hx, const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias) {
  const c10::DeviceGuard guard(input_gates.device());
  const auto from_input = plus(to_host(input_gates), to_host(input_bias)).chunk(3, 1);
  const auto from_hidden = plus(to_host(hidden_gates), to_host(hidden_bias)).chunk(3, 1);
  const at::Tensor host_hx = to_host(hx);
  const at::Tensor reset = (from_input[0] + from_hidden[0]).sigmoid();
  const at::Tensor update = (from_input[1] + from_hidden[1]).sigmoid();
  const at::Tensor fresh = (from_input[2] + reset * from_hidden[2]).tanh();
  const at::Tensor hy = fresh + update * (host_hx - fresh);
  return {to_device(hy, hx), to_device(at::cat({reset, update, fresh, host_hx, from_hidden[2]}, 1), hx)};
}

Tensors5 _thnn_fused_gru_cell_backward(
    const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias) {
  const c10::DeviceGuard guard(grad_hy.device());
  const at::Tensor grad = to_host(grad_hy);
  const auto saved = to_host(workspace).chunk(5, 1);
  const at::Tensor &reset = saved[0], &update = saved[1], &fresh = saved[2], &hx = saved[3],
                   &hidden = saved[4];
  const at::Tensor d_update = through_sigmoid(grad * (hx - fresh), update);
  const at::Tensor d_fresh = through_tanh(grad * (1 - update), fresh);
  const at::Tensor d_reset = through_sigmoid(d_fresh * hidden, reset);
  const at::Tensor d_input = at::cat({d_reset, d_update, d_fresh}, 1);
  const at::Tensor d_hidden = at::cat({d_reset, d_update, d_fresh * reset}, 1);
  const at::Tensor input_bias = has_bias ? d_input.sum(0) : at::Tensor();
  const at::Tensor hidden_bias = has_bias ? d_hidden.sum(0) : at::Tensor();
  return {to_device(d_input, grad_hy), to_device(d_hidden, grad_hy), to_device(grad * update, grad_hy),
      to_device(input_bias, grad_hy), to_device(hidden_bias, grad_hy)};
}

}  // namespace openreg::native
