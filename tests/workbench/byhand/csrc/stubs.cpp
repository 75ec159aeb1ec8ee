// PyTorch's own kernels, with this backend's functions behind their DispatchStubs.
#include <ATen/TensorIterator.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/abs_native.h>
#include <ATen/ops/logical_not_native.h>
#include <torch/library.h>

#include "host.h"

namespace byhand {
namespace {

void abs_kernel(at::TensorIteratorBase& iter) {
  const at::Tensor from = on_host(iter.tensor(1));
  on_host(iter.tensor(0)).copy_(from.abs());
}

void logical_not_kernel(at::TensorIteratorBase& iter) { on_host(iter.tensor(0)).copy_(on_host(iter.tensor(1)) == 0); }

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("abs.out", at::native::abs_out);
  m.impl("logical_not.out", at::native::logical_not_out);
}

}  // namespace byhand

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(abs_stub, &byhand::abs_kernel);
REGISTER_PRIVATEUSE1_DISPATCH(logical_not_stub, &byhand::logical_not_kernel);
}  // namespace at::native
