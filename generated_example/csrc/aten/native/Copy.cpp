// Written by openreg-gen from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/Dispatch_v2.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/Kernels.h"
#include "runtime/Allocator.h"
#include "runtime/Event.h"
#include "runtime/Exception.h"
#include "runtime/Guard.h"
#include "runtime/HostAllocator.h"
#include "runtime/Stream.h"

// Note [Copies]
// copy_, to, cpu, item and the CPU fallback all end in _copy_from. Only a flat run of bytes can cross between
// host and device, or between two devices; everything else (strides, dtype, conjugation) is done before or after,
// on the side where it is cheap:
//   same device      the driver's copies of bytes, or one kernel, whatever the layouts and dtypes (CopyKernel.cpp)
//   device to host   made flat on the device if it has gaps, moved, then converted by the CPU
//   host to device   converted and made flat by the CPU, moved, then spread on the device
//   other device     converted and made flat at the source, moved, then spread at the destination
// Elements that a tensor repeats (expand, overlapping windows of unfold) cross once and are repeated by the
// destination; making them flat would take memory for each repetition.
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
  OPENREG_CHECK_LAUNCH(orMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(), src.nbytes(),
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
  OPENREG_CHECK_LAUNCH(orMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(), src.nbytes(),
      orMemcpyDeviceToDevice, source.stream()));
  OpenRegEvent done;
  done.record(source);
  done.block(destination);
}

/// How many elements the memory from the first element to the last has room for.
int64_t span_of(const at::Tensor& tensor) {
  int64_t span = 1;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    span += (tensor.size(dim) - 1) * tensor.stride(dim);
  }
  return span;
}

/// `tensor` with size 1 where it is expanded; expand_as(tensor) takes that back.
at::Tensor unexpanded(const at::Tensor& tensor) {
  at::DimVector sizes(tensor.sizes());
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    sizes[dim] = tensor.strides()[dim] == 0 ? 1 : sizes[dim];
  }
  return native::as_strided(tensor, sizes, tensor.strides(), tensor.storage_offset());
}

/// dst = src, where the elements that `src` has more than once are moved once. move(there, here) moves bytes.
template <class Move>
void copy_by_memory(const at::Tensor& dst, const at::Tensor& src, Move move) {
  at::Tensor few = unexpanded(src);
  if (span_of(few) > few.numel()) {
    few = flattened(few, few.scalar_type(), few);
  }
  at::Tensor here = native::as_strided(few, {span_of(few)}, {1}, few.storage_offset());
  here._set_conj(false);
  here._set_neg(false);
  const at::Tensor there = at::empty(here.sizes(), here.options().device(dst.device()));
  move(there, here);
  at::Tensor seen = native::as_strided(there, few.sizes(), few.strides(), 0);
  seen._set_conj(few.is_conj());
  seen._set_neg(few.is_neg());
  seen = seen.expand_as(src);
  if (dst.is_cpu()) {
    dst.copy_(seen);
    return;
  }
  const c10::OptionalDeviceGuard guard(dst.device());
  copy_on_device(dst, seen);
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
      copy_by_memory(dst, src, [](const at::Tensor& host, const at::Tensor& here) { move_host(host, here, false); });
    }
  } else if (span_of(src) < src.numel()) {
    copy_by_memory(dst, src, [](const at::Tensor& there, const at::Tensor& here) {
      here.is_cpu() ? move_host(there, here, false) : move_between(there, here);
    });
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

// As short as a wait for the device allows: no tensor of the host, no second wait.
at::Scalar _local_scalar_dense(const at::Tensor& self) {
  if (self.is_conj() || self.is_neg()) {
    return native::_local_scalar_dense(self.resolve_conj().resolve_neg());
  }
  TORCH_INTERNAL_ASSERT(self.numel() == 1);
  const OpenRegGuard guard(self.device().index());
  const OpenRegStream stream = getCurrentStream();
  return AT_DISPATCH_V2(self.scalar_type(), "_local_scalar_dense", AT_WRAP([&] {
    scalar_t value;
    OPENREG_CHECK_LAUNCH(orMemcpyAsync(
        &value, self.const_data_ptr(), sizeof(value), orMemcpyDeviceToHost, stream.stream()));
    stream.synchronize();
    return at::Scalar(value);
  }),
      AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), AT_EXPAND(AT_FLOAT8_TYPES),
      at::kBool, at::kHalf, at::kBFloat16, at::kComplexHalf);
}

void record_stream(at::Tensor& self, at::Stream s) {
  getDeviceAllocator()->recordStream(self.storage().data_ptr(), s);
}

}  // namespace openreg::native
