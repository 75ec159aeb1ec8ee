// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <ATen/native/ResizeCommon.h>
#include <ATen/ops/is_set_to_native.h>

#include "aten/native/Kernels.h"
#include "runtime/Allocator.h"
#include "runtime/Guard.h"

// PyTorch's own resize_ and set_ grow a storage with memcpy on the host, which the device's memory does not
// allow. Here a storage grows through the hooks' resizePrivateUse1Bytes, as UntypedStorage.resize_ does; that also makes the
// storage's device the current one, so no guard is needed here.

namespace lessons::native {
namespace {

/// Gives `self` these sizes and strides (none: contiguous), growing its storage if they need more of it.
void resize_to(const at::Tensor& self, at::IntArrayRef size, at::OptionalIntArrayRef stride) {
  if (self.sizes() == size && (!stride.has_value() || self.strides() == *stride)) {
    return;
  }
  const size_t offset = static_cast<size_t>(self.storage_offset());
  const size_t bytes = stride.has_value() ? at::detail::computeStorageNbytes(size, *stride, self.itemsize(), offset)
                                          : at::detail::computeStorageNbytesContiguous(size, self.itemsize(), offset);
  // First: the tensor stays as it is where memory is out.
  if (c10::multiply_integers(size) != 0) {
    grow_storage(self, bytes);
  }
  at::TensorImpl* impl = self.unsafeGetTensorImpl();
  stride.has_value() ? impl->set_sizes_and_strides(size, *stride) : impl->set_sizes_contiguous(size);
}

}  // namespace

void grow_storage(const at::Tensor& self, size_t bytes) {
  const at::Storage& storage = self.storage();
  if (bytes > storage.nbytes()) {
    TORCH_CHECK(storage.resizable(), "Trying to resize storage that is not resizable");
    at::detail::getPrivateUse1Hooks().resizePrivateUse1Bytes(storage, bytes);
  }
}

const at::Tensor& resize_(
    const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat> memory_format) {
  const auto before = static_cast<int64_t>(self.storage().nbytes());
  resize_to(self, size, std::nullopt);
  if (memory_format.has_value()) {
    TORCH_CHECK(*memory_format != at::MemoryFormat::Preserve, "Unsupported memory format ", *memory_format);
    self.unsafeGetTensorImpl()->empty_tensor_restride(*memory_format);
  }
  if (fills_new_memory()) {
    at::native::fill_resize_deterministic_(self, before);  // what the storage grew by, and nothing else
  }
  return self;
}

const at::Tensor& _resize_output_(const at::Tensor& self, at::IntArrayRef size, at::Device device) {
  TORCH_CHECK(self.device() == resolve_device(device),
      "out Tensor doesn't have the correct device set: ", self.device(), ", not ", device);
  at::native::resize_output(self, size);
  return self;
}

at::Tensor& set_(at::Tensor& self) {
  const LessonsGuard guard(self.device());
  at::Storage storage(at::Storage::use_byte_size_t(), 0, getDeviceAllocator(), /*resizable=*/true);
  return set__source_Storage_storage_offset(self, std::move(storage), 0, {0}, {});
}

at::Tensor& set__source_Tensor(at::Tensor& self, const at::Tensor& source) {
  if (self.is_same(source)) {
    return self;
  }
  TORCH_CHECK(source.device() == self.device(), "set_ needs tensors on one device, got ", self.device(),
      " and ", source.device());
  return set__source_Storage_storage_offset(
      self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Tensor& set__source_Storage(at::Tensor& self, at::Storage source) {
  const int64_t elements = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set__source_Storage_storage_offset(self, std::move(source), 0, {elements}, {});
}

at::Tensor& set__source_Storage_storage_offset(at::Tensor& self, at::Storage source, int64_t storage_offset,
    at::IntArrayRef size, at::IntArrayRef stride) {
  at::native::checkSetStorage(self, std::move(source), storage_offset, size, stride);
  self.unsafeGetTensorImpl()->set_storage_offset(storage_offset);
  const bool contiguous = stride.data() == nullptr;
  resize_to(self, size, contiguous ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(stride));
  return self;
}

bool is_set_to(const at::Tensor& self, const at::Tensor& tensor) {
  return at::native::is_set_to(self, tensor);
}

}  // namespace lessons::native
