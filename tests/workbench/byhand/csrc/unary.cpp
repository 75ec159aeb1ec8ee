// Kernels that are registered by hand, each in another way.
#include <torch/library.h>

#include "host.h"

namespace byhand {
namespace {

constexpr double kSlope = 0.01;

/// `function` of the host's tensors, into new memory of the device.
template <class Function>
at::Tensor unary(const at::Tensor& self, const Function& function) {
  rt::tick();
  at::Tensor out = at::empty_like(self);
  on_host(out).copy_(function(on_host(self)));
  return out;
}

at::Tensor relu(const at::Tensor& x) {
  return unary(x, [](const at::Tensor& there) { return at::clamp_min(there, 0); });
}

at::Tensor& relu_(at::Tensor& x) {
  rt::tick();
  on_host(x).clamp_min_(0);
  return x;
}

static at::Tensor& hypot_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  BYHAND_CHECK_FLOAT(self);
  out.resize_(at::infer_size(self.sizes(), other.sizes()));
  auto there = on_host(out);
  at::hypot_out(there, on_host(self), on_host(other));
  return out;
}

at::Tensor flip(const at::Tensor& self, at::IntArrayRef dims) {
  return unary(self, [&](const at::Tensor& there) { return at::flip(there, dims); });
}

at::Tensor roll(const at::Tensor& self, at::IntArrayRef shifts, at::IntArrayRef dims) {
  return unary(self, [&](const at::Tensor& there) { return at::roll(there, shifts, dims); });
}

std::tuple<at::Tensor, at::Tensor> log_sigmoid_forward(const at::Tensor& self) {
  auto [out, buffer] = at::log_sigmoid_forward(on_host(self));
  return {out.to(self.device()), buffer.to(self.device())};
}

at::Tensor prelu(const at::Tensor& self, const at::Tensor& weight) {
  return unary(self, [&](const at::Tensor& there) { return at::_prelu_kernel(there, on_host(weight).expand_as(there)); });
}

}  // namespace

at::Tensor leaky(const at::Tensor& self, const at::Scalar& slope) {
  return unary(self, [&](const at::Tensor& there) { return at::leaky_relu(there, slope.toDouble() == 0 ? kSlope : slope); });
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("relu", relu);
  m.impl("relu_", TORCH_FN(relu_));
  m.impl("hypot.out", hypot_out);
  m.impl("flip", &flip);
  m.impl("roll", roll);
  m.impl(TORCH_SELECTIVE_NAME("aten::log_sigmoid_forward"), TORCH_FN(log_sigmoid_forward));
  m.impl("_prelu_kernel", prelu);
  m.impl("leaky_relu", ::byhand::leaky);
  m.impl("trace", [](const at::Tensor& self) {
    rt::tick();
    return at::scalar_tensor(on_host(self).trace().item(), self.options());
  });
}

}  // namespace byhand
