// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Tensors.h"

#include <openreg.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include "host/Arguments.h"
#include "host/Run.h"
#include "runtime/Allocator.h"
#include "runtime/Exception.h"
#include "runtime/Stream.h"

namespace openreg {
namespace {

constexpr auto kCPU = c10::DeviceType::CPU;

size_t span_bytes(const at::Tensor& tensor) {
  return at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.itemsize());
}

at::Tensor zeros_without_memory(const at::Tensor& like) {
  const auto keys = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1) | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor);
  c10::Storage storage(c10::Storage::use_byte_size_t(), like.storage().nbytes(),
      c10::DataPtr(nullptr, resolve_device()), nullptr, /*resizable=*/false);
  at::Tensor zeros = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, like.dtype());
  zeros.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
  return zeros;
}

/// A new storage on the current device with the bytes of one of the host.
c10::Storage on_current_device(const c10::Storage& host) {
  const size_t bytes = host.nbytes();
  c10::Allocator* const allocator = getDeviceAllocator();
  c10::Storage device(
      c10::Storage::use_byte_size_t(), bytes, allocator->allocate(bytes), allocator, /*resizable=*/true);
  if (bytes != 0) {
    const OpenRegStream stream = getCurrentStream();
    OPENREG_CHECK_LAUNCH(orMemcpyAsync(device.mutable_data(), host.data(), bytes, orMemcpyHostToDevice, stream.stream()));
    stream.synchronize();
  }
  return device;
}

}  // namespace

constinit CompoundOnDevice* compound_on_device = nullptr;
constinit MakeHostTensors* host_tensors = [] { return std::make_unique<HostTensors>(); };

void HostTensors::run(c10::function_ref<void()> fn) {
  const CpuKernelScope scope;
  fn();
}

void HostTensors::add(const c10::IValue& value, bool written, bool read) {
  mapped(value, [&](const at::Tensor& tensor) {
    add(tensor, written, read);
    return tensor;
  });
}

void HostTensors::add(const at::Tensor& tensor, bool written, bool read) {
  if (!tensor.defined() || !tensor.is_privateuseone()) {
    return;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided && tensor.has_storage() && !is_compound(tensor),
      "a CPU kernel can't run on device memory for a tensor of layout ", tensor.layout());
  if (written) {
    tensor.storage().unsafeGetStorageImpl()->mutable_data();  // its own bytes, where it shared them until a write
  }
  const auto [known, added] = by_device_.try_emplace(tensor.unsafeGetTensorImpl(), known_.size());
  if (!added) {
    known_[known->second].written = known_[known->second].written || written;
    known_[known->second].read = known_[known->second].read || read;
    return;
  }
  known_.push_back({tensor, at::Tensor(), written, read, 0});
}

void HostTensors::fetch() {
  reach();  // only now: adding a written tensor may have given others of its storage new bytes
  for (size_t i = 0; i < known_.size(); ++i) {
    make(known_[i]);
    by_host_.emplace(known_[i].host.unsafeGetTensorImpl(), i);
  }
}

void HostTensors::reach() {
  for (const TensorCopy& known : known_) {
    memory_.add({const_cast<void*>(known.device.const_data_ptr()), span_bytes(known.device), false, nullptr, known.read});
  }
  join_written();
  memory_.fetch();
}

// A tensor that the code resizes may grow into others of its storage, which it has to see.
void HostTensors::join_written() {
  struct Range {
    const char* begin = nullptr;
    const char* end = nullptr;
    bool written = false;
    bool read = false;
  };
  std::unordered_map<const c10::StorageImpl*, Range> ranges;
  for (const TensorCopy& known : known_) {
    if (span_bytes(known.device) == 0) {
      continue;
    }
    const auto* const begin = static_cast<const char*>(known.device.const_data_ptr());
    const char* const end = begin + span_bytes(known.device);
    Range& range = ranges[known.device.storage().unsafeGetStorageImpl()];
    range.begin = range.begin == nullptr ? begin : std::min(range.begin, begin);
    range.end = std::max(range.end, end);
    range.written = range.written || known.written;
    range.read = range.read || known.read;
  }
  for (const auto& [storage, range] : ranges) {
    if (range.written) {
      memory_.add({const_cast<char*>(range.begin), static_cast<size_t>(range.end - range.begin), false, nullptr, range.read});
    }
  }
}

HostTensors::Place HostTensors::place_of(const at::Tensor& tensor) const {
  const auto* const data = static_cast<const char*>(tensor.const_data_ptr());
  if (span_bytes(tensor) == 0) {  // there is nothing to share: such a tensor is alone, over nothing
    const auto* const begin = static_cast<const char*>(tensor.storage().data());
    return {tensor.unsafeGetTensorImpl(), begin + static_cast<size_t>(tensor.storage_offset()) * tensor.itemsize(), 0, nullptr};
  }
  const native::HostMemory::Span* const span = memory_.span(data);
  return {span, span->begin - span->padding(), span->bytes + span->padding(), span->host - span->padding()};
}

size_t HostTensors::home_of(const at::Tensor& tensor) {
  const Place place = place_of(tensor);
  const auto [known, added] = home_by_key_.try_emplace(place.key, homes_.size());
  if (added) {
    // A resize that does not fit takes host memory; update() brings it home.
    c10::Storage storage(c10::Storage::use_byte_size_t(), place.bytes, c10::DataPtr(place.host, c10::Device(kCPU)),
        c10::GetCPUAllocator(), /*resizable=*/true);
    home_by_host_.emplace(storage.unsafeGetStorageImpl(), homes_.size());
    const auto shift = static_cast<int64_t>(place.begin - static_cast<const char*>(tensor.storage().data()));
    homes_.push_back({std::move(storage), tensor.storage(), place.host, shift});
  }
  return known->second;
}

void HostTensors::make(TensorCopy& known) {
  const at::Tensor& tensor = known.device;
  known.home = home_of(tensor);
  const Home& home = homes_[known.home];
  known.host = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(home.host), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  c10::TensorImpl* const impl = known.host.unsafeGetTensorImpl();
  const int64_t offset = tensor.storage_offset() - home.shift / static_cast<int64_t>(tensor.itemsize());
  impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), offset);
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    impl->set_wrapped_number(true);
  }
  known.host._set_conj(tensor.is_conj());
  known.host._set_neg(tensor.is_neg());
}

at::Tensor HostTensors::on_host(const at::Tensor& tensor) {
  const auto known = by_device_.find(tensor.unsafeGetTensorImpl());
  return known == by_device_.end() ? tensor : known_[known->second].host;
}

c10::IValue HostTensors::on_host(const c10::IValue& value) {
  if (value.isDevice() && value.toDevice().is_privateuseone()) {
    return c10::Device(kCPU);
  }
  return mapped(value, [this](const at::Tensor& tensor) { return on_host(tensor); });
}

void HostTensors::update(const TensorCopy& known) {
  const at::Tensor& device = known.device;
  const at::Tensor& host = known.host;
  const Home& home = homes_[known.home];
  const bool elsewhere = host.storage().data() != home.data;
  const int64_t offset = host.storage_offset() + home.shift / static_cast<int64_t>(host.itemsize());
  if (device.sizes() != host.sizes() || device.strides() != host.strides() || device.storage_offset() != offset) {
    const size_t bytes = at::detail::computeStorageNbytes(host.sizes(), host.strides(), host.itemsize(), static_cast<size_t>(offset));
    if (bytes > device.storage().nbytes()) {
      at::detail::getPrivateUse1Hooks().resizePrivateUse1Bytes(device.storage(), bytes);
    }
    device.unsafeGetTensorImpl()->set_sizes_and_strides(host.sizes(), host.strides(), offset);
  }
  // linalg.lu_solve makes its out= a conjugate view.
  if (device.is_conj() != host.is_conj()) {
    device._set_conj(host.is_conj());
  }
  if (device.is_neg() != host.is_neg()) {
    device._set_neg(host.is_neg());
  }
  if (host.numel() == 0 || (!elsewhere && !copies())) {
    return;
  }
  if (elsewhere) {
    device.copy_(host);
    moved_bytes_ += host.nbytes();
    return;
  }
  native::Layout layout;
  layout.itemsize = host.itemsize();
  for (int64_t dim = 0; dim < host.dim(); ++dim) {
    layout.sizes.push_back(host.size(dim));
    layout.strides.push_back(host.stride(dim) * static_cast<int64_t>(host.itemsize()));
  }
  memory_.store({device.mutable_data_ptr(), span_bytes(device), true,
      host.is_non_overlapping_and_dense() ? nullptr : &layout});
}

void HostTensors::update() {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  for (const TensorCopy& known : known_) {
    if (known.written) {
      update(known);
    }
  }
}

at::Tensor HostTensors::view_on_device(
    const at::Tensor& result, const c10::Storage& storage, int64_t shift) const {
  at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), result.dtype());
  view.unsafeGetTensorImpl()->set_sizes_and_strides(
      result.sizes(), result.strides(), result.storage_offset() + shift / static_cast<int64_t>(result.itemsize()));
  view._set_conj(result.is_conj());
  view._set_neg(result.is_neg());
  return view;
}

at::Tensor HostTensors::on_device(const at::Tensor& result) {
  if (!result.defined() || !result.is_cpu()) {
    return result;
  }
  if (const auto known = by_host_.find(result.unsafeGetTensorImpl()); known != by_host_.end()) {
    return known_[known->second].device;
  }
  if (is_compound(result)) {
    TORCH_CHECK_NOT_IMPLEMENTED(compound_on_device != nullptr,
        "sparse, nested and quantized tensors of openreg need the component compound: `openreg-gen add component compound`");
    return (*compound_on_device)(*this, result);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(result.layout() == at::kStrided && result.has_storage(),
      "the result of a CPU kernel, of layout ", result.layout(), " and dtype ", result.scalar_type(),
      ", can't be on openreg");
  if (result._is_zerotensor()) {  // zeros without memory
    return zeros_without_memory(result);
  }
  c10::StorageImpl* const storage = result.storage().unsafeGetStorageImpl();
  if (const auto home = home_by_host_.find(storage); home != home_by_host_.end()) {
    return view_on_device(result, homes_[home->second].device, homes_[home->second].shift);
  }
  const auto [moved, added] = moved_.try_emplace(storage);
  if (added) {
    moved->second = {result.storage(), on_current_device(result.storage())};
    moved_bytes_ += result.storage().nbytes();
  }
  return view_on_device(result, moved->second.second, 0);
}

c10::IValue HostTensors::on_device(const c10::IValue& result) {
  return mapped(result, [this](const at::Tensor& tensor) { return on_device(tensor); });
}

}  // namespace openreg
