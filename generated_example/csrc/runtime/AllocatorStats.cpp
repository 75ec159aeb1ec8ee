// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/AllocatorStats.h"

#include <c10/core/AllocatorConfig.h>

namespace openreg {

namespace {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;

size_t pool_of(size_t requested) {
  const bool small = requested <= c10::CachingAllocator::kSmallSize;
  return static_cast<size_t>(small ? StatType::SMALL_POOL : StatType::LARGE_POOL);
}

constexpr auto kAll = static_cast<size_t>(StatType::AGGREGATE);

// One block is one request, one segment of device memory and one active block at once: nothing is split or kept.
template <typename Change>
void for_each_count(c10::CachingDeviceAllocator::DeviceStats& stats, Change change) {
  for (StatArray* counts : {&stats.allocation, &stats.segment, &stats.active}) {
    change(*counts);
  }
}

template <typename Change>
void for_each_size(c10::CachingDeviceAllocator::DeviceStats& stats, Change change) {
  for (StatArray* sizes : {&stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes}) {
    change(*sizes);
  }
}

void increase(StatArray& stat, size_t pool, size_t amount) {
  stat[kAll].increase(amount);
  stat[pool].increase(amount);
}

void decrease(StatArray& stat, size_t pool, size_t amount) {
  stat[kAll].decrease(amount);
  stat[pool].decrease(amount);
}

template <typename Reset>
void for_each_stat(c10::CachingDeviceAllocator::DeviceStats& stats, Reset reset) {
  StatArray* const arrays[] = {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split,
      &stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes, &stats.inactive_split_bytes,
      &stats.requested_bytes};
  for (StatArray* array : arrays) {
    for (Stat& stat : *array) {
      reset(stat);
    }
  }
  reset(stats.oversize_allocations);
  reset(stats.oversize_segments);
}

AllocatorStats::Totals totals(const c10::CachingDeviceAllocator::DeviceStats& stats) {
  return {
      static_cast<size_t>(stats.allocated_bytes[kAll].current),
      static_cast<size_t>(stats.reserved_bytes[kAll].current)};
}

}  // namespace

AllocatorStats::DeviceStats& AllocatorStats::at(c10::DeviceIndex device) {
  const auto index = static_cast<size_t>(device);
  if (index >= devices_.size()) {
    devices_.resize(index + 1);
  }
  return devices_[index];
}

AllocatorStats::Totals AllocatorStats::allocated(c10::DeviceIndex device, size_t requested, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DeviceStats& stats = at(device);
  const size_t pool = pool_of(requested);
  for_each_count(stats, [&](StatArray& stat) { increase(stat, pool, 1); });
  for_each_size(stats, [&](StatArray& stat) { increase(stat, pool, bytes); });
  increase(stats.requested_bytes, pool, requested);
  ++stats.num_device_alloc;
  return totals(stats);
}

AllocatorStats::Totals AllocatorStats::freed(c10::DeviceIndex device, size_t requested, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DeviceStats& stats = at(device);
  const size_t pool = pool_of(requested);
  for_each_count(stats, [&](StatArray& stat) { decrease(stat, pool, 1); });
  for_each_size(stats, [&](StatArray& stat) { decrease(stat, pool, bytes); });
  decrease(stats.requested_bytes, pool, requested);
  ++stats.num_device_free;
  return totals(stats);
}

AllocatorStats::Totals AllocatorStats::out_of_memory(c10::DeviceIndex device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DeviceStats& stats = at(device);
  ++stats.num_ooms;
  return totals(stats);
}

AllocatorStats::DeviceStats AllocatorStats::get(c10::DeviceIndex device) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto index = static_cast<size_t>(device);
  return index < devices_.size() ? devices_[index] : DeviceStats{};
}

void AllocatorStats::reset_accumulated(c10::DeviceIndex device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DeviceStats& stats = at(device);
  for_each_stat(stats, [](Stat& stat) { stat.reset_accumulated(); });
  int64_t* const counts[] = {&stats.num_alloc_retries, &stats.num_ooms, &stats.num_sync_all_streams,
      &stats.num_device_alloc, &stats.num_device_free, &stats.num_oom_rejections};
  for (int64_t* count : counts) {
    *count = 0;
  }
}

void AllocatorStats::reset_peak(c10::DeviceIndex device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for_each_stat(at(device), [](Stat& stat) { stat.reset_peak(); });
}

}  // namespace openreg
