// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Tensors.h"

#include <algorithm>
#include <utility>

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Parallel.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/_copy_from.h>
#include <ATen/ops/empty.h>

#include "runtime/HostAllocator.h"
#include "runtime/Functions.h"
#include "runtime/Stream.h"

namespace openreg {
namespace {

constexpr int64_t kElementAlignment = 64;  // a multiple of each dtype's size

at::Tensor over(const c10::Storage& storage, caffe2::TypeMeta type, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t offset) {
  const auto key = storage.device_type() == at::kCPU ? c10::DispatchKey::CPU : c10::DispatchKey::PrivateUse1;
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), c10::DispatchKeySet(key), type);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset);
  return tensor;
}

/// A tensor over a storage that has the type, sizes and strides of another one.
at::Tensor over(const c10::Storage& storage, const at::Tensor& like, int64_t offset) {
  at::Tensor tensor = over(storage, like.dtype(), like.sizes(), like.strides(), offset);
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) {
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  tensor._set_conj(like.is_conj());
  tensor._set_neg(like.is_neg());
  return tensor;
}

/// Bytes of a storage, as a tensor.
at::Tensor bytes_at(const c10::Storage& storage, int64_t begin, int64_t count) {
  return over(storage, caffe2::TypeMeta::Make<uint8_t>(), {count}, {1}, begin);
}

at::Tensor host_bytes(int64_t count) {
  constexpr int64_t kMostPinned = int64_t{64} << 20;  // what is pinned stays with the process
  if (count <= kMostPinned) {
    return at::detail::empty_generic({count}, getHostAllocator(), c10::DispatchKeySet(c10::DispatchKey::CPU), at::kByte, std::nullopt);
  }
  return at::detail::empty_cpu({count}, at::kByte);
}

/// How many bytes a tensor reaches over, from its first element on.
int64_t span_of(const at::Tensor& tensor) {
  return static_cast<int64_t>(at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.itemsize()));
}

int64_t itemsize_of(const at::Tensor& tensor) { return static_cast<int64_t>(tensor.itemsize()); }

int64_t begin_of(const at::Tensor& tensor) { return tensor.storage_offset() * itemsize_of(tensor); }

}  // namespace

constinit CompoundOnDevice* compound_on_device = nullptr;
constinit MakeHostTensors* host_tensors = [] { return std::make_unique<HostTensors>(); };

bool is_compound(const at::Tensor& tensor) {
  return tensor.is_sparse() || at::sparse_csr::is_sparse_compressed(tensor) || tensor.is_quantized() ||
      (tensor.is_nested() && tensor.layout() == at::kStrided);
}

CpuKernelScope::CpuKernelScope(int threads) {
  // Setting the number is costly, and most often it is right already.
  if (threads > 0 && at::get_num_threads() != threads) {
    at::set_num_threads(threads);
  }
}

void HostTensors::add(const c10::IValue& value, bool written, bool read) {
  each_tensor(value, [&](const at::Tensor& tensor) { add(tensor, written, read); });
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
  const auto [at, added] = by_device_.try_emplace(tensor.unsafeGetTensorImpl(), known_.size());
  if (added) {
    known_.push_back({tensor, at::Tensor(), written, read});
    return;
  }
  TensorCopy& known = known_[at->second];
  known.written = known.written || written;
  known.read = known.read || read;
}

// Tensors that overlap share a copy, and so do all behind one that is written: the function may resize it, and then it grows into them.
void HostTensors::fetch() {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  std::vector<TensorCopy*> sorted;
  for (TensorCopy& known : known_) {
    sorted.push_back(&known);
  }
  std::ranges::sort(sorted, {}, [](const TensorCopy* known) {
    return std::pair(known->device.storage().unsafeGetStorageImpl(), begin_of(known->device));
  });
  for (TensorCopy* const known : sorted) {
    const at::Tensor& tensor = known->device;
    const int64_t begin = begin_of(tensor);
    const Range* const last = memory_.empty() ? nullptr : &memory_.back().range;
    if (last == nullptr || !last->device.is_alias_of(tensor.storage()) || (begin >= last->end && !last->written)) {
      memory_.push_back({Range{tensor.storage(), begin / kElementAlignment * kElementAlignment, begin, false, false}, c10::Storage()});
    }
    Range& range = memory_.back().range;
    range.end = std::max(range.end, begin + span_of(tensor));
    range.read = range.read || known->read || !tensor.is_non_overlapping_and_dense();
    range.written = range.written || known->written;
    known->memory = memory_.size() - 1;
  }
  for (Memory& memory : memory_) {
    memory.range.end = std::min(memory.range.end, static_cast<int64_t>(memory.range.device.nbytes()));  // an empty tensor may lie beyond it
    memory.host = reach(memory.range);
    memory.data = memory.host.data();
    homes_.emplace(memory.host.unsafeGetStorageImpl(), Home{memory.range.device, memory.range.begin});
  }
  if (to_host_ != 0) {
    getCurrentStream().synchronize();
  }
  for (size_t i = 0; i < known_.size(); ++i) {
    TensorCopy& known = known_[i];
    const Memory& memory = memory_[known.memory];
    known.host = over(memory.host, known.device, (begin_of(known.device) - memory.range.begin) / itemsize_of(known.device));
    by_host_.emplace(known.host.unsafeGetTensorImpl(), i);
  }
}

c10::Storage HostTensors::reach(const Range& range) {
  const at::Tensor device = bytes_at(range.device, range.begin, std::max<int64_t>(range.end - range.begin, 0));
  const at::Tensor host = host_bytes(device.numel());
  if (range.read) {
    at::_copy_from(device, host, /*non_blocking=*/true);
    to_host_ += device.nbytes();
  }
  return host.storage();
}

at::Tensor HostTensors::on_host(const at::Tensor& tensor) const {
  const auto known = by_device_.find(tensor.unsafeGetTensorImpl());
  return known == by_device_.end() ? tensor : known_[known->second].host;
}

c10::IValue HostTensors::on_host(const c10::IValue& value) const {
  if (value.isDevice() && value.toDevice().is_privateuseone()) {
    return c10::Device(at::kCPU);
  }
  return mapped(value, [this](const at::Tensor& tensor) { return on_host(tensor); });
}

void HostTensors::run(c10::function_ref<void()> fn) {
  const CpuKernelScope scope;
  fn();
}

void HostTensors::update(const TensorCopy& known) {
  const at::Tensor& device = known.device;
  const at::Tensor& host = known.host;
  const Memory& memory = memory_[known.memory];
  const int64_t first = memory.range.begin;
  const int64_t offset = host.storage_offset() + first / itemsize_of(host);
  if (device.sizes() != host.sizes() || device.strides() != host.strides() || device.storage_offset() != offset) {
    const auto bytes = static_cast<size_t>(span_of(host) + offset * itemsize_of(host));
    if (bytes > device.storage().nbytes()) {
      at::detail::getPrivateUse1Hooks().resizePrivateUse1Bytes(device.storage(), bytes);
    }
    device.unsafeGetTensorImpl()->set_sizes_and_strides(host.sizes(), host.strides(), offset);
  }
  if (device.is_conj() != host.is_conj()) {  // linalg.lu_solve makes its out= a conjugate view
    device._set_conj(host.is_conj());
  }
  const bool elsewhere = host.storage().data() != memory.data;
  if (host.numel() == 0 || (!elsewhere && !copies())) {
    return;
  }
  to_device_ += host.nbytes();
  const bool gaps = !host.is_non_overlapping_and_dense() && at::has_internal_overlap(host) != at::MemOverlap::Yes;
  if (elsewhere || gaps) {  // what lies between its elements stays as it is
    device.copy_(host);
    return;
  }
  const at::Tensor bytes = bytes_at(host.storage(), begin_of(host), span_of(host));
  at::_copy_from(bytes, bytes_at(device.storage(), first + begin_of(host), span_of(host)), /*non_blocking=*/true);
}

void HostTensors::update() {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  for (const TensorCopy& known : known_) {
    if (known.written) {
      update(known);
    }
  }
}

at::Tensor HostTensors::on_device(const at::Tensor& result) {
  if (!result.defined() || !result.is_cpu()) {
    return result;
  }
  if (const auto known = by_host_.find(result.unsafeGetTensorImpl()); known != by_host_.end()) {
    return known_[known->second].device;
  }
  if (is_compound(result) && compound_on_device != nullptr) {
    return (*compound_on_device)(*this, result);
  }
  const at::Device device(c10::DeviceType::PrivateUse1, current_device());
  if (result.layout() != at::kStrided || is_compound(result) || result._is_zerotensor()) {
    return result.to(device);
  }
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::Storage& host = result.storage();
  const auto [home, added] = homes_.try_emplace(host.unsafeGetStorageImpl());
  if (added) {
    const at::Tensor bytes = bytes_at(host, 0, static_cast<int64_t>(host.nbytes()));
    const at::Tensor copy = at::empty(bytes.sizes(), bytes.options().device(device));
    at::_copy_from(bytes, copy, /*non_blocking=*/false);
    home->second.device = copy.storage();
    to_device_ += host.nbytes();
  }
  return over(home->second.device, result, result.storage_offset() + home->second.begin / itemsize_of(result));
}

c10::IValue HostTensors::on_device(const c10::IValue& result) {
  return mapped(result, [this](const at::Tensor& tensor) { return on_device(tensor); });
}

}  // namespace openreg
