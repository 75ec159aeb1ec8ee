// The functions of native_functions.yaml; torchgen declares and registers them.
#include "PrivateUse1NativeFunctions.h"
#include "host.h"

namespace byhand {

using at::Scalar;
using at::Tensor;

namespace {
Tensor on_device(const Tensor& like, const Tensor& there) {
  Tensor out = at::empty(there.sizes(), like.options().dtype(there.scalar_type()));
  on_host(out).copy_(there);
  return out;
}
}  // namespace

Tensor ByhandNativeFunctions::add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  rt::tick();
  return on_device(self, at::add(on_host(self), on_host(other), alpha));
}

Tensor& ByhandNativeFunctions::add_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  on_host(self).copy_(on_host(ByhandNativeFunctions::add(self, other, alpha)));
  return self;
}

Tensor ByhandNativeFunctions::mul(const Tensor& self, const Tensor& other) {
  return on_device(self, at::mul(on_host(self), on_host(other)));
}

Tensor ByhandNativeFunctions::mul(const Tensor& self, const Scalar& other) {
  return on_device(self, at::mul(on_host(self), other));
}

Tensor ByhandNativeFunctions::sum(const Tensor& self, at::OptionalIntArrayRef dim, bool keepdim, std::optional<at::ScalarType> dtype) {
  return on_device(self, at::sum(on_host(self), dim, keepdim, dtype));
}

Tensor& ByhandNativeFunctions::bitwise_not_out(const Tensor& self, Tensor& out) {
  out.resize_(self.sizes());
  on_host(out).copy_(at::bitwise_not(on_host(self)));
  return out;
}

}  // namespace byhand
