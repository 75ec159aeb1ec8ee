// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/Dispatch_v2.h>
#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/Kernels.h"
#include "runtime/Allocator.h"
#include "runtime/Exception.h"
#include "runtime/Guard.h"
#include "runtime/HostAllocator.h"
#include "runtime/Stream.h"

// Note [Copies]
// copy_, to, cpu, item and the CPU fallback all end in _copy_from. A copy moves bytes: between tensors of one dtype that lie in
// memory without gaps and in the same order. All else is made of that, with a tensor of the host in between, where PyTorch's CPU
// kernels change dtype and strides. It is the first thing to write a kernel for; the component `loops` has one.

namespace openreg::native {
namespace {

/// Both plain, of one dtype and with their elements in the same order. At least one is on a device. Queued on the current
/// stream of the source, or of the device if that is the host; waits where memory of the host takes part.
void move(const at::Tensor& dst, const at::Tensor& src, [[maybe_unused]] bool non_blocking = false) {
  const c10::DeviceGuard guard(src.is_cpu() ? dst.device() : src.device());
  const OpenRegStream stream = getCurrentStream();
  const bool two_devices = !src.is_cpu() && !dst.is_cpu() && src.device() != dst.device();
  if (two_devices) {
    queue_wait(stream, getCurrentStream(dst.device().index()));
  }
  const auto kind = src.is_cpu() ? orMemcpyHostToDevice
      : dst.is_cpu()             ? orMemcpyDeviceToHost
                                 : orMemcpyDeviceToDevice;
  OPENREG_CHECK_LAUNCH(orMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(), src.nbytes(), kind, stream.stream()));
  if (two_devices) {
    queue_wait(getCurrentStream(dst.device().index()), stream);
    return;
  }
  if (const at::Tensor& host = dst.is_cpu() ? dst : src; non_blocking && host.is_cpu() && isPinnedPtr(host.const_data_ptr())) {
    const c10::DataPtr& data = host.storage().data_ptr();  // kept until the stream has passed the copy
    getHostAllocator()->record_event(data.get(), data.get_context(), stream);
    return;
  }
  if (two_devices || src.is_cpu() || dst.is_cpu()) {
    stream.synchronize();
  }
}

/// The whole memory that a tensor reaches into, as a tensor of bytes at its first element.
at::Tensor memory_of(const at::Tensor& tensor) { return tensor.as_strided({span_of(tensor)}, {1}); }

/// The same values, sizes and strides on the host.
at::Tensor on_host(const at::Tensor& tensor) {
  const at::Tensor memory = memory_of(tensor);
  const at::Tensor host = at::empty_like(memory, memory.options().device(at::kCPU));
  move(host, memory);
  at::Tensor result = host.as_strided(tensor.sizes(), tensor.strides(), 0);
  result._set_conj(tensor.is_conj());
  result._set_neg(tensor.is_neg());
  return result;
}

}  // namespace

bool is_plain(const at::Tensor& tensor) {
  return tensor.is_non_overlapping_and_dense() && !tensor.is_conj() && !tensor.is_neg();
}

int64_t span_of(const at::Tensor& tensor) {
  return static_cast<int64_t>(at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), /*itemsize_bytes=*/1));
}

at::Tensor _copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  const at::Tensor src = self.sizes() == dst.sizes() ? self : self.expand_as(dst);  // refuses sizes that don't fit
  if (dst.numel() == 0 || self.is_same(dst)) {
    return dst;
  }
  at::assert_no_partial_overlap(dst, src);
  const bool ordered_alike = src.strides() == dst.strides() || (src.is_contiguous() && dst.is_contiguous());
  if (src.scalar_type() == dst.scalar_type() && ordered_alike && is_plain(src) && is_plain(dst)) {
    move(dst, src, non_blocking);
    return dst;
  }
  if (copy_by_kernels(dst, src)) {
    return dst;
  }
  const at::Tensor values = src.is_cpu() ? src : on_host(src);
  if (dst.is_cpu()) {
    dst.copy_(values);
    return dst;
  }
  // What lies between the elements of `dst` stays as it is.
  const at::Tensor host = is_plain(dst) ? at::empty_strided(dst.sizes(), dst.strides(), dst.options().device(at::kCPU)) : on_host(dst);
  host.copy_(values);
  move(memory_of(dst), memory_of(host));
  return dst;
}

at::Tensor _copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  if (self.sizes() != dst.sizes()) {
    dst.resize_(self.sizes());
  }
  return native::_copy_from(self, dst, false);
}

at::Scalar _local_scalar_dense(const at::Tensor& self) {
  if (self.is_conj() || self.is_neg()) {
    return native::_local_scalar_dense(self.resolve_conj().resolve_neg());
  }
  const OpenRegGuard guard(self.device());
  const OpenRegStream stream = getCurrentStream();
  return AT_DISPATCH_V2(self.scalar_type(), "_local_scalar_dense", AT_WRAP([&] {
    scalar_t value;
    OPENREG_CHECK_LAUNCH(orMemcpyAsync(&value, self.const_data_ptr(), sizeof(value), orMemcpyDeviceToHost, stream.stream()));
    stream.synchronize();
    return at::Scalar(value);
  }),
      AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), AT_EXPAND(AT_FLOAT8_TYPES), at::kBool, at::kHalf,
      at::kBFloat16, at::kComplexHalf);
}

void record_stream(at::Tensor& self, at::Stream s) {
  getDeviceAllocator()->recordStream(self.storage().data_ptr(), s);
}

}  // namespace openreg::native
