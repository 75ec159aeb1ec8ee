// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `custom_ops` in the spec changes it, then `openreg-gen generate`.
#include <ATen/DeviceGuard.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/functorch/DynamicLayer.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/library.h>

#include "aten/Batching.h"
#include "aten/Signature.h"
#include "aten/native/DeviceLoop.h"
#include "aten/native/ElementwiseMeta.h"

// Note [Operators of the backend's own]
// torch.ops.openreg.NAME. A schema makes an operator; a kernel a dispatch key makes it run: PrivateUse1 on the device,
// CPU for comparison, by the same function; Meta for shapes without data (torch.compile, fake tensors), which may be
// symbols. FuncTorchBatched is torch.vmap, see Note [Batching rules]. Autograd is a key of its own, above these: there a torch::autograd::Function records what backward needs and calls
// the operator again, below autograd. Without a kernel at that key gradients would silently stop.
//
// An operator that returns a view of its argument is composed of PyTorch's views (CompositeImplicitAutograd): it has one
// kernel for all devices, and theirs are its shapes, its gradient and what in-place operations on the view mean.

namespace openreg {
namespace native {
// custom_alias(Tensor(a) self) -> Tensor(a)
// in native/custom_custom_alias.cpp
at::Tensor custom_custom_alias(const at::Tensor& self);
}  // namespace native
namespace {

using native::compute_t;
using native::has_value;
using native::value_or;

/// The operator by its name, to be called with the signature of its kernel.
template <class Function>
c10::TypedOperatorHandle<Function> find_operator(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Function>();
}

/// Function::apply() refuses to begin within torch.func.grad and the like, since most forwards compute beside the
/// transforms. Ours calls an operator: the transforms are put aside for that check, and forward runs within them.
class TransformsAside {
 public:
  TransformsAside() : layers_(at::functorch::getDynamicLayerStack()), outer_(current_) {
    current_ = this;
    at::functorch::setDynamicLayerStack({});
  }
  ~TransformsAside() {
    put_back();
    current_ = outer_;
  }
  TransformsAside(const TransformsAside&) = delete;
  TransformsAside& operator=(const TransformsAside&) = delete;

  static void end() { current_->put_back(); }

 private:
  void put_back() {
    if (aside_) {
      at::functorch::setDynamicLayerStack(layers_);
      aside_ = false;
    }
  }

  std::vector<at::functorch::DynamicLayer> layers_;
  TransformsAside* outer_;
  bool aside_ = true;
  static thread_local TransformsAside* current_;
};

thread_local TransformsAside* TransformsAside::current_ = nullptr;

// custom_abs(Tensor self) -> Tensor
at::Tensor custom_abs(const at::Tensor& self) {
  static constexpr RegisteredKernel kKernel{"openreg::custom_abs", "pointwise"};
  const OperatorScope scope(kKernel);
  const c10::OptionalDeviceGuard guard(at::device_of(self));
  at::TensorIterator iter = native::elementwise_iterator({}, {self}, /*floating=*/false);
  AT_DISPATCH_V2(iter.common_dtype(), "custom_abs", AT_WRAP([&] {
    native::device_kernel<scalar_t>(iter,
        []([[maybe_unused]] compute_t<scalar_t> self) { return std::abs(self); });
  }),
      AT_EXPAND(AT_ALL_TYPES), at::kHalf, at::kBFloat16);
  return iter.output();
}

at::Tensor custom_abs_meta(const at::Tensor& self) {
  return native::elementwise_meta({self});
}

// custom_abs_backward(Tensor grad, Tensor self) -> Tensor
at::Tensor custom_abs_backward(const at::Tensor& grad, const at::Tensor& self) {
  static constexpr RegisteredKernel kKernel{"openreg::custom_abs_backward", "pointwise"};
  const OperatorScope scope(kKernel);
  const c10::OptionalDeviceGuard guard(at::device_of(grad));
  at::TensorIterator iter = native::elementwise_iterator({}, {grad, self}, /*floating=*/false);
  AT_DISPATCH_V2(iter.common_dtype(), "custom_abs_backward", AT_WRAP([&] {
    native::device_kernel<scalar_t>(iter,
        []([[maybe_unused]] compute_t<scalar_t> grad, [[maybe_unused]] compute_t<scalar_t> self) { return self < 0 ? -grad : (self > 0 ? grad : 0); });
  }),
      AT_EXPAND(AT_ALL_TYPES), at::kHalf, at::kBFloat16);
  return iter.output();
}

at::Tensor custom_abs_backward_meta(const at::Tensor& grad, const at::Tensor& self) {
  return native::elementwise_meta({grad, self});
}

// custom_square(Tensor self) -> Tensor
at::Tensor custom_square(const at::Tensor& self) {
  static constexpr RegisteredKernel kKernel{"openreg::custom_square", "pointwise"};
  const OperatorScope scope(kKernel);
  const c10::OptionalDeviceGuard guard(at::device_of(self));
  at::TensorIterator iter = native::elementwise_iterator({}, {self}, /*floating=*/false);
  AT_DISPATCH_V2(iter.common_dtype(), "custom_square", AT_WRAP([&] {
    native::device_kernel<scalar_t>(iter,
        []([[maybe_unused]] compute_t<scalar_t> self) { return self * self; });
  }),
      AT_EXPAND(AT_ALL_TYPES), at::kHalf, at::kBFloat16);
  return iter.output();
}

at::Tensor custom_square_meta(const at::Tensor& self) {
  return native::elementwise_meta({self});
}

// custom_square_backward(Tensor grad, Tensor self) -> Tensor
at::Tensor custom_square_backward(const at::Tensor& grad, const at::Tensor& self) {
  static constexpr RegisteredKernel kKernel{"openreg::custom_square_backward", "pointwise"};
  const OperatorScope scope(kKernel);
  const c10::OptionalDeviceGuard guard(at::device_of(grad));
  at::TensorIterator iter = native::elementwise_iterator({}, {grad, self}, /*floating=*/false);
  AT_DISPATCH_V2(iter.common_dtype(), "custom_square_backward", AT_WRAP([&] {
    native::device_kernel<scalar_t>(iter,
        []([[maybe_unused]] compute_t<scalar_t> grad, [[maybe_unused]] compute_t<scalar_t> self) { return 2 * self * grad; });
  }),
      AT_EXPAND(AT_ALL_TYPES), at::kHalf, at::kBFloat16);
  return iter.output();
}

at::Tensor custom_square_backward_meta(const at::Tensor& grad, const at::Tensor& self) {
  return native::elementwise_meta({grad, self});
}

class CustomAbs : public torch::autograd::Function<CustomAbs> {
 public:
  static at::Tensor forward(
      torch::autograd::AutogradContext* ctx, const at::Tensor& self) {
    TransformsAside::end();
    ctx->save_for_backward({self});
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    static const auto op = find_operator<at::Tensor(const at::Tensor&)>("openreg::custom_abs", "");
    return op.call(self);
  }

  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    torch::autograd::variable_list result(1);
    if (ctx->needs_input_grad(0)) {
      static const auto op = find_operator<at::Tensor(const at::Tensor&, const at::Tensor&)>("openreg::custom_abs_backward", "");
      const at::Tensor& input = saved[0];
      const at::Tensor grad = op.call(grads[0], saved[0]);
      result[0] = at::sum_to(grad, input.sym_sizes()).to(input.scalar_type());
    }
    return result;
  }
};

at::Tensor custom_abs_autograd(const at::Tensor& self) {
  const TransformsAside aside;
  return CustomAbs::apply(self);
}

}  // namespace

TORCH_LIBRARY(openreg, m) {
  m.def("custom_abs(Tensor self) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("custom_abs_backward(Tensor grad, Tensor self) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("custom_square(Tensor self) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("custom_square_backward(Tensor grad, Tensor self) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("custom_alias(Tensor(a) self) -> Tensor(a)", {at::Tag::pt2_compliant_tag});
}

namespace {

void register_kernels(torch::Library& m) {
  m.impl("custom_abs", TORCH_FN(custom_abs));
  m.impl("custom_abs_backward", TORCH_FN(custom_abs_backward));
  m.impl("custom_square", TORCH_FN(custom_square));
  m.impl("custom_square_backward", TORCH_FN(custom_square_backward));
}

}  // namespace

TORCH_LIBRARY_IMPL(openreg, PrivateUse1, m) { register_kernels(m); }
TORCH_LIBRARY_IMPL(openreg, CPU, m) { register_kernels(m); }

TORCH_LIBRARY_IMPL(openreg, Meta, m) {
  m.impl("custom_abs", TORCH_FN(custom_abs_meta));
  m.impl("custom_abs_backward", TORCH_FN(custom_abs_backward_meta));
  m.impl("custom_square", TORCH_FN(custom_square_meta));
  m.impl("custom_square_backward", TORCH_FN(custom_square_backward_meta));
}

TORCH_LIBRARY_IMPL(openreg, FuncTorchBatched, m) {
  m.impl("custom_abs", torch::CppFunction::makeFromBoxedFunction<&batch_elementwise>());
  m.impl("custom_abs_backward", torch::CppFunction::makeFromBoxedFunction<&batch_elementwise>());
  m.impl("custom_square", torch::CppFunction::makeFromBoxedFunction<&batch_elementwise>());
  m.impl("custom_square_backward", torch::CppFunction::makeFromBoxedFunction<&batch_elementwise>());
}

TORCH_LIBRARY_IMPL(openreg, CompositeImplicitAutograd, m) {
  m.impl("custom_alias", TORCH_FN(native::custom_custom_alias));
}

// torch.vmap sees the views that they are composed of; one with a backward of its own would lose that, and is refused.
TORCH_LIBRARY_IMPL(openreg, FuncTorchBatched, m) {
  m.impl("custom_alias", TORCH_FN(native::custom_custom_alias));
  static_cast<void>(m);
}

namespace {

void register_autograd(torch::Library& m) {
  m.impl("custom_abs", TORCH_FN(custom_abs_autograd));
  m.impl("custom_abs_backward", torch::autograd::autogradNotImplementedFallback());
  m.impl("custom_square_backward", torch::autograd::autogradNotImplementedFallback());
  static_cast<void>(m);
}

}  // namespace

// What is not differentiable says so in backward.
TORCH_LIBRARY_IMPL(openreg, AutogradPrivateUse1, m) { register_autograd(m); }
TORCH_LIBRARY_IMPL(openreg, AutogradCPU, m) { register_autograd(m); }

}  // namespace openreg
