// The operators without which nothing works.
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "host.h"

namespace byhand {
namespace {

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  const c10::OptionalDeviceGuard guard(device);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_strided_generic(sizes, strides, &memory_of_devices, keys,
                                           dtype.value_or(at::typeMetaToScalarType(at::get_default_dtype())));
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<at::Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard(device);
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_generic(sizes, &memory_of_devices, keys,
                                   dtype.value_or(at::typeMetaToScalarType(at::get_default_dtype())), format);
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool) {
  if (self.numel() != 0) on_host(dst).copy_(on_host(self).expand(dst.sizes()));
  return dst;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  dst.resize_(self.sizes());
  return copy_from(self, dst, false);
}

const at::Tensor& resize(const at::Tensor& self, c10::SymIntArrayRef sizes, std::optional<at::MemoryFormat>) {
  const auto shape = C10_AS_INTARRAYREF_SLOW(sizes);
  const auto bytes = static_cast<std::size_t>(c10::multiply_integers(shape)) * self.element_size();
  auto* storage = self.storage().unsafeGetStorageImpl();
  if (storage->nbytes() < bytes) {
    auto data = memory_of_devices.allocate(bytes);
    rt::copy(data.get(), storage->data(), storage->nbytes());
    storage->set_data_ptr_noswap(std::move(data));
    storage->set_nbytes(bytes);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(shape);
  return self;
}

at::Tensor view_of(const at::Tensor& self, c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<int64_t> offset) {
  auto result = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(self.storage()),
                                                         self.key_set(), self.dtype());
  result.unsafeGetTensorImpl()->set_storage_offset(offset.value_or(self.storage_offset()));
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return result;
}

at::Tensor view(const at::Tensor& self, c10::IntArrayRef sizes) {
  const auto there = on_host(self).view(sizes);  // of the same strides
  return view_of(self, there.sizes(), there.strides(), self.storage_offset());
}

at::Tensor& fill(at::Tensor& self, const at::Scalar& value) {
  on_host(self).fill_(value);
  return self;
}

at::Tensor& zero(at::Tensor& self) {
  on_host(self).zero_();
  return self;
}

at::Scalar local_scalar_dense(const at::Tensor& self) { return on_host(self).item(); }

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", TORCH_FN(copy_from));
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("resize_", resize);
  m.impl("as_strided", view_of);
  m.impl("view", view);
  m.impl("fill_.Scalar", fill);
  m.impl("zero_", zero);
  m.impl("_local_scalar_dense", local_scalar_dense);
}

}  // namespace byhand
