// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Allocator.h"

#include <c10/core/AllocatorConfig.h>

#include "runtime/Exception.h"
#include "runtime/Guard.h"
#include "runtime/Stream.h"

namespace openreg {

namespace {

constexpr size_t kAlignment = 64;  // bytes; sizes are rounded up to it (allocator.alignment)

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatType;

DirectAllocator& direct_allocator() {
  static auto* const allocator = new DirectAllocator();
  return *allocator;
}

const c10::AllocatorRegisterer<c10::DeviceType::PrivateUse1> direct_allocator_registered(&direct_allocator());

// A block is a request, a segment of the device and an active block at once: nothing is split or kept.
template <class Change>
void change_each(c10::CachingDeviceAllocator::DeviceStats& stats, StatType pool, size_t requested, size_t bytes, Change change) {
  for (const auto i : {static_cast<size_t>(StatType::AGGREGATE), static_cast<size_t>(pool)}) {
    for (auto* const counts : {&stats.allocation, &stats.segment, &stats.active}) {
      change((*counts)[i], 1);
    }
    for (auto* const sizes : {&stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes}) {
      change((*sizes)[i], bytes);
    }
    change(stats.requested_bytes[i], requested);
  }
}

StatType pool_of(size_t requested) {
  return requested <= c10::CachingAllocator::kSmallSize ? StatType::SMALL_POOL : StatType::LARGE_POOL;
}

}  // namespace

DirectAllocator::Block DirectAllocator::block_of(size_t size) const {
  const c10::DeviceIndex device = current_device();
  initialize();
  mark_device_used(device);
  const size_t bytes = (size + kAlignment - 1) / kAlignment * kAlignment;
  return {device, size, bytes, currentStreamHandle(device)};
}

c10::DataPtr DirectAllocator::allocate(size_t size) {
  const Block block = block_of(size);
  void* data = nullptr;
  // A sum that overflowed is smaller than the request: no device has that much.
  const orError_t error = block.bytes < size ? orErrorMemoryAllocation : orMalloc(&data, block.bytes);
  TORCH_CHECK_WITH(OutOfMemoryError, error != orErrorMemoryAllocation, "openreg out of memory. Tried to allocate ",
      c10::CachingAllocator::format_size(size), " on device ", int{block.device}, ", which has ",
      c10::CachingAllocator::format_size(getMemoryInfo(block.device).first), " free.", detail::refused_memory());
  OPENREG_CHECK(error);
  if (data != nullptr) {
    add(data, block);
    fire_hook(&TraceHooks::trace_gpu_memory_allocation, data);
  }
  return {data, data, raw_deleter(), c10::Device(c10::DeviceType::PrivateUse1, block.device)};
}

// Deleters run at any time, on any thread, also while the process exits: this warns and never throws.
c10::DeleterFnPtr DirectAllocator::raw_deleter() const {
  return [](void* data) {
    if (data != nullptr && !isInBadFork()) {
      direct_allocator().remove(data);
      OPENREG_WARN(orFree(data));
    }
  };
}

void DirectAllocator::add(void* data, const Block& block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  blocks_[data] = block;
  DeviceStats& stats = stats_[block.device];
  ++stats.num_device_alloc;
  change_each(stats, pool_of(block.requested), block.requested, block.bytes, [](Stat& stat, size_t amount) { stat.increase(amount); });
}

std::optional<DirectAllocator::Block> DirectAllocator::remove(void* data) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto node = blocks_.extract(data);
  if (node.empty()) {
    return std::nullopt;
  }
  const Block& block = node.mapped();
  DeviceStats& stats = stats_[block.device];
  ++stats.num_device_free;
  change_each(stats, pool_of(block.requested), block.requested, block.bytes, [](Stat& stat, size_t amount) { stat.decrease(amount); });
  return block;
}

void DirectAllocator::copy_data(void* destination, const void* source, size_t size) const {
  const OpenRegStream stream = getCurrentStream();
  OPENREG_CHECK_LAUNCH(orMemcpyAsync(destination, source, size, orMemcpyDeviceToDevice, stream.stream()));
  stream.synchronize();
}

c10::CachingDeviceAllocator::DeviceStats DirectAllocator::getDeviceStats(c10::DeviceIndex device) {
  device = resolve_device_index(device);
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_[device];
}

void DirectAllocator::resetAccumulatedStats(c10::DeviceIndex device) {
  device = resolve_device_index(device);
  const std::lock_guard<std::mutex> lock(mutex_);
  DeviceStats& stats = stats_[device];
  stats.num_device_alloc = stats.num_device_free = stats.num_ooms = 0;
  for (const StatType pool : {StatType::SMALL_POOL, StatType::LARGE_POOL}) {
    change_each(stats, pool, 0, 0, [](Stat& stat, size_t) { stat.reset_accumulated(); });
  }
}

void DirectAllocator::resetPeakStats(c10::DeviceIndex device) {
  device = resolve_device_index(device);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const StatType pool : {StatType::SMALL_POOL, StatType::LARGE_POOL}) {
    change_each(stats_[device], pool, 0, 0, [](Stat& stat, size_t) { stat.reset_peak(); });
  }
}

std::pair<size_t, size_t> DirectAllocator::getMemoryInfo(c10::DeviceIndex device) {
  const OpenRegGuard guard(resolve_device_index(device));
  size_t free = 0;
  size_t total = 0;
  OPENREG_CHECK(orMemGetInfo(&free, &total));
  return {free, total};
}

c10::DeviceAllocator* getDeviceAllocator() {
  return static_cast<c10::DeviceAllocator*>(c10::GetAllocator(c10::DeviceType::PrivateUse1));
}

}  // namespace openreg
