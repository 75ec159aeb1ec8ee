// Written by openreg-gen 0.1.0 from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/ScalarOps.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/Kernels.h"
#include "runtime/DeviceAllocator.h"
#include "runtime/Event.h"
#include "runtime/Exception.h"
#include "runtime/HostAllocator.h"
#include "runtime/Stream.h"

// Note [Copies]
// copy_, to, cpu, item and the CPU fallback all end in _copy_from. Only a flat run of bytes can cross between
// host and device, or between two devices; all else (other strides, other dtype, conjugation) is done beside
// it, on the side where that is cheap:
//   same device      one kernel, whatever the layouts and dtypes (CopyKernel.cpp)
//   device to host   made flat on the device, moved, then converted by the CPU
//   host to device   converted and made flat by the CPU, moved, then spread on the device
//   other device     converted and made flat at the source, moved, then spread at the destination
// Moves to or from pageable host memory block: that memory may change or go as soon as the call returned.
// Pinned memory with non_blocking=True does not, and the pinned block is kept until the stream has passed the
// copy.

namespace openreg::native {
namespace {

/// Whether both store the same elements at the same places of one gapless run of bytes.
bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg() &&
      a.is_non_overlapping_and_dense() && a.strides() == b.strides();
}

/// A new tensor that same_bytes() as `like`, on `device`; contiguous if `like` has gaps or overlaps.
at::Tensor flat_like(const at::Tensor& like, at::ScalarType dtype, at::Device device) {
  const auto options = at::TensorOptions().dtype(dtype).device(device);
  if (like.is_non_overlapping_and_dense()) {
    return at::empty_strided(like.sizes(), like.strides(), options);
  }
  return at::empty(like.sizes(), options);
}

/// The values of `tensor` in a flat tensor of the same device, laid out as `like`; itself if that is so
/// already.
at::Tensor flattened(const at::Tensor& tensor, at::ScalarType dtype, const at::Tensor& like) {
  at::Tensor flat = flat_like(like, dtype, tensor.device());
  if (same_bytes(tensor, flat)) {
    return tensor;
  }
  flat.copy_(tensor);
  return flat;
}

/// Moves the bytes of `src` to `dst`, of which one is on the host. Pinned and `non_blocking`: without
/// waiting.
void move_host(const at::Tensor& dst, const at::Tensor& src, bool non_blocking) {
  const bool to_host = dst.is_cpu();
  const at::Tensor& host = to_host ? dst : src;
  const c10::DeviceGuard guard(to_host ? src.device() : dst.device());
  const OpenRegStream stream = getCurrentStream();
  OPENREG_CHECK(orMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(), src.nbytes(),
      to_host ? orMemcpyDeviceToHost : orMemcpyHostToDevice, stream.stream()));
  if (non_blocking && isPinnedPtr(host.const_data_ptr())) {
    const c10::DataPtr& data = host.storage().data_ptr();
    getHostAllocator()->record_event(data.get(), data.get_context(), stream);
  } else {
    stream.synchronize();
  }
}

/// Moves the bytes of `src` to `dst` on another device, in the order of both devices' current streams.
void move_between(const at::Tensor& dst, const at::Tensor& src) {
  const OpenRegStream source = getCurrentStream(src.device().index());
  const OpenRegStream destination = getCurrentStream(dst.device().index());
  {
    const c10::DeviceGuard guard(dst.device());
    OpenRegEvent ready;
    ready.record(destination);
    ready.block(source);
  }
  const c10::DeviceGuard guard(src.device());
  OPENREG_CHECK(orMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(), src.nbytes(),
      orMemcpyDeviceToDevice, source.stream()));
  OpenRegEvent done;
  done.record(source);
  done.block(destination);
}

}  // namespace

at::Tensor _copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  const at::Tensor src = self.sizes() == dst.sizes() ? self : self.expand_as(dst);
  if (dst.numel() == 0 || dst.is_same(self)) {
    return dst;
  }
  if (src.device() == dst.device()) {
    const c10::OptionalDeviceGuard guard(dst.device());
    copy_on_device(dst, src);
  } else if (dst.is_cpu()) {
    if (same_bytes(dst, src)) {
      move_host(dst, src, non_blocking);
    } else {
      const at::Tensor flat = flattened(src, src.scalar_type(), src);
      const at::Tensor host = flat_like(flat, flat.scalar_type(), at::kCPU);
      move_host(host, flat, false);
      dst.copy_(host);
    }
  } else {
    // The last step only spreads what was moved, unless `dst` is itself a flat run of bytes without pending
    // flags.
    const bool direct = dst.is_non_overlapping_and_dense() && !dst.is_conj() && !dst.is_neg();
    const at::Tensor flat = flattened(src, dst.scalar_type(), dst);
    const at::Tensor target = direct ? dst : flat_like(flat, dst.scalar_type(), dst.device());
    if (src.is_cpu()) {
      move_host(target, flat, non_blocking);
    } else {
      move_between(target, flat);
    }
    if (!direct) {
      const c10::OptionalDeviceGuard guard(dst.device());
      copy_on_device(dst, target);
    }
  }
  return dst;
}

at::Tensor _copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  if (self.sizes() != dst.sizes()) {
    dst.resize_(self.sizes());
  }
  return native::_copy_from(self, dst, false);
}

at::Scalar _local_scalar_dense(const at::Tensor& self) {
  at::Tensor host = at::empty({}, self.options().device(at::kCPU));
  native::_copy_from(self.reshape({}), host, false);
  return at::native::_local_scalar_dense_cpu(host);
}

void record_stream(at::Tensor& self, at::Stream s) {
  getDeviceAllocator()->recordStream(self.storage().data_ptr(), s);
}

}  // namespace openreg::native
