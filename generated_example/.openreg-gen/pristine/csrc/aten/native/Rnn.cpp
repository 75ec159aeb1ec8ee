// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.

#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS  // TensorOperators.h would include all operators
#endif
#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/Kernels.h"
#include "host/Kernel.h"

// nn.LSTM and nn.GRU on a device use these fused cells, for which there are no CPU kernels. Each is composed of CPU
// kernels and runs like one (Note [The CPU's kernels on the device]). The workspace is private to them: forward leaves in
// it what backward needs.

namespace openreg::native {
namespace {

bool is_half(const at::Tensor& tensor) {
  return tensor.defined() && (tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16);
}

/// In float or wider: half precision is stored, not computed with. Undefined stays undefined.
at::Tensor wide(const at::Tensor& tensor) { return is_half(tensor) ? tensor.to(at::kFloat) : tensor; }

/// Where a result is computed: in itself, or in float where it is of half precision. store() takes it home.
at::Tensor computed(const at::Tensor& result) {
  return is_half(result) ? at::empty(result.sizes(), result.options().dtype(at::kFloat)) : result;
}
void store(const at::Tensor& result, const at::Tensor& computed) {
  if (!result.is_same(computed)) {
    result.copy_(computed);
  }
}
void store_sum(const at::Tensor& result, const at::Tensor& rows) {
  if (result.defined()) {
    at::Tensor sum = computed(result);
    at::sum_out(sum, rows, 0);
    store(result, sum);
  }
}

void add_to(const at::Tensor& gates, const at::Tensor& bias) {
  if (bias.defined()) {
    gates.add_(bias);
  }
}

/// Operators for host_call_into(). Tensors that an operator may lack are undefined.
struct LstmCell {
  using schema = void(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
      at::Tensor&, at::Tensor&, at::Tensor&);
  static void call(const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& cx,
      const at::Tensor& input_bias, const at::Tensor& hidden_bias, at::Tensor& hy, at::Tensor& cy,
      at::Tensor& workspace) {
    at::Tensor gates = computed(workspace);
    at::add_out(gates, wide(input_gates), wide(hidden_gates));
    add_to(gates, input_bias);
    add_to(gates, hidden_bias);
    const auto parts = gates.chunk(4, 1);  // in, forget, fresh, out
    gates.narrow(1, 0, 2 * cx.size(1)).sigmoid_();
    parts[2].tanh_();
    parts[3].sigmoid_();
    at::Tensor cell = computed(cy);
    at::mul_out(cell, parts[1], wide(cx)).addcmul_(parts[0], parts[2]);
    at::Tensor state = computed(hy);
    at::tanh_out(state, cell).mul_(parts[3]);
    store(hy, state);
    store(cy, cell);
    store(workspace, gates);
  }
};

struct LstmCellBackward {
  using schema = void(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
      at::Tensor&, at::Tensor&, at::Tensor&);
  static void call(const at::Tensor& grad_hy, const at::Tensor& grad_cy, const at::Tensor& cx, const at::Tensor& cy,
      const at::Tensor& workspace, at::Tensor& grad_gates, at::Tensor& grad_cx, at::Tensor& grad_bias) {
    const auto saved = wide(workspace).chunk(4, 1);
    const at::Tensor &in = saved[0], &forget = saved[1], &fresh = saved[2], &out = saved[3];
    const at::Tensor gates = computed(grad_gates);
    auto to = gates.chunk(4, 1);
    at::Tensor dcy = computed(grad_cx);
    if (grad_hy.defined()) {
      const at::Tensor dhy = wide(grad_hy);
      const at::Tensor tanh_cy = wide(cy).tanh();
      at::tanh_backward_out(dcy, dhy * out, tanh_cy);
      at::sigmoid_backward_out(to[3], dhy * tanh_cy, out);
    } else {
      dcy.zero_();
      to[3].zero_();
    }
    add_to(dcy, grad_cy);
    at::sigmoid_backward_out(to[0], dcy * fresh, in);
    at::sigmoid_backward_out(to[1], dcy * cx, forget);
    at::tanh_backward_out(to[2], dcy * in, fresh);
    dcy.mul_(forget);
    store_sum(grad_bias, gates);
    store(grad_gates, gates);
    store(grad_cx, dcy);
  }
};

struct GruCell {
  using schema = void(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
      at::Tensor&, at::Tensor&);
  static void call(const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& hx,
      const at::Tensor& input_bias, const at::Tensor& hidden_bias, at::Tensor& hy, at::Tensor& workspace) {
    const int64_t width = hx.size(1);
    const at::Tensor before = wide(hx);
    const at::Tensor from_input = input_bias.defined() ? wide(input_gates) + input_bias : wide(input_gates);
    const at::Tensor from_hidden = hidden_bias.defined() ? wide(hidden_gates) + hidden_bias : wide(hidden_gates);
    const at::Tensor saved = computed(workspace);
    auto parts = saved.chunk(5, 1);  // reset, update, fresh, hx, what of `fresh` is from hx
    at::Tensor both = saved.narrow(1, 0, 2 * width);
    at::add_out(both, from_input.narrow(1, 0, 2 * width), from_hidden.narrow(1, 0, 2 * width)).sigmoid_();
    parts[3].copy_(before);
    parts[4].copy_(from_hidden.narrow(1, 2 * width, width));
    at::mul_out(parts[2], parts[0], parts[4]).add_(from_input.narrow(1, 2 * width, width)).tanh_();
    at::Tensor state = computed(hy);
    at::sub_out(state, before, parts[2]).mul_(parts[1]).add_(parts[2]);
    store(hy, state);
    store(workspace, saved);
  }
};

struct GruCellBackward {
  using schema = void(const at::Tensor&, const at::Tensor&, at::Tensor&, at::Tensor&, at::Tensor&, at::Tensor&,
      at::Tensor&);
  static void call(const at::Tensor& grad_hy, const at::Tensor& workspace, at::Tensor& grad_input,
      at::Tensor& grad_hidden, at::Tensor& grad_hx, at::Tensor& grad_input_bias, at::Tensor& grad_hidden_bias) {
    const at::Tensor grad = wide(grad_hy);
    const auto saved = wide(workspace).chunk(5, 1);
    const at::Tensor &reset = saved[0], &update = saved[1], &fresh = saved[2], &hx = saved[3], &hidden = saved[4];
    const at::Tensor of_input = computed(grad_input);
    auto to = of_input.chunk(3, 1);
    at::sigmoid_backward_out(to[1], grad * (hx - fresh), update);
    at::tanh_backward_out(to[2], grad * (1 - update), fresh);
    at::sigmoid_backward_out(to[0], to[2] * hidden, reset);
    const at::Tensor of_hidden = computed(grad_hidden);
    of_hidden.copy_(of_input);
    of_hidden.chunk(3, 1)[2].mul_(reset);
    at::Tensor before = computed(grad_hx);
    at::mul_out(before, grad, update);
    store_sum(grad_input_bias, of_input);
    store_sum(grad_hidden_bias, of_hidden);
    store(grad_input, of_input);
    store(grad_hidden, of_hidden);
    store(grad_hx, before);
  }
};

at::Tensor new_like(const at::Tensor& tensor, at::IntArrayRef sizes) { return at::empty(sizes, tensor.options()); }

/// The gradient of a bias that is added to such gates; undefined if there is none.
at::Tensor new_bias(bool there, const at::Tensor& gates) {
  return there ? new_like(gates, {gates.size(1)}) : at::Tensor();
}

}  // namespace

Tensors3 _thnn_fused_lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
    const at::Tensor& cx, const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias) {
  const c10::DeviceGuard guard(input_gates.device());
  Tensors3 results(new_like(cx, cx.sizes()), new_like(cx, cx.sizes()), new_like(input_gates, input_gates.sizes()));
  host_call_into<LstmCell>(input_gates, hidden_gates, cx, input_bias.value_or(at::Tensor()),
      hidden_bias.value_or(at::Tensor()), std::get<0>(results), std::get<1>(results), std::get<2>(results));
  return results;
}

Tensors3 _thnn_fused_lstm_cell_backward_impl(const std::optional<at::Tensor>& grad_hy,
    const std::optional<at::Tensor>& grad_cy, const at::Tensor& cx, const at::Tensor& cy,
    const at::Tensor& workspace, bool has_bias) {
  const at::Tensor from_hy = grad_hy.value_or(at::Tensor());
  const at::Tensor from_cy = grad_cy.value_or(at::Tensor());
  if (!from_hy.defined() && !from_cy.defined()) {
    return {};
  }
  const c10::DeviceGuard guard(workspace.device());
  Tensors3 grads(
      new_like(workspace, workspace.sizes()), new_like(cx, cx.sizes()), new_bias(has_bias, workspace));
  host_call_into<LstmCellBackward>(
      from_hy, from_cy, cx, cy, workspace, std::get<0>(grads), std::get<1>(grads), std::get<2>(grads));
  return grads;
}

Tensors2 _thnn_fused_gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
    const at::Tensor& hx, const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias) {
  const c10::DeviceGuard guard(input_gates.device());
  Tensors2 results(new_like(hx, hx.sizes()), new_like(hx, {hx.size(0), 5 * hx.size(1)}));
  host_call_into<GruCell>(input_gates, hidden_gates, hx, input_bias.value_or(at::Tensor()),
      hidden_bias.value_or(at::Tensor()), std::get<0>(results), std::get<1>(results));
  return results;
}

Tensors5 _thnn_fused_gru_cell_backward(
    const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias) {
  const c10::DeviceGuard guard(grad_hy.device());
  const auto gates = [&] { return new_like(workspace, {workspace.size(0), workspace.size(1) / 5 * 3}); };
  Tensors5 grads(gates(), gates(), new_like(grad_hy, grad_hy.sizes()), at::Tensor(), at::Tensor());
  std::get<3>(grads) = new_bias(has_bias, std::get<0>(grads));
  std::get<4>(grads) = new_bias(has_bias, std::get<0>(grads));
  host_call_into<GruCellBackward>(grad_hy, workspace, std::get<0>(grads), std::get<1>(grads), std::get<2>(grads),
      std::get<3>(grads), std::get<4>(grads));
  return grads;
}

}  // namespace openreg::native
