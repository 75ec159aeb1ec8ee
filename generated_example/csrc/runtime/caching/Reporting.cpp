// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <c10/core/AllocatorConfig.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include "runtime/DeviceScope.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/caching/DeviceCache.h"
#include "runtime/caching/Settings.h"

namespace openreg::caching {

namespace {

using c10::CachingAllocator::format_size;
using c10::CachingDeviceAllocator::BlockInfo;

constexpr const char* kAdvice =
    " If memory that is reserved but unallocated is large, try setting PYTORCH_ALLOC_CONF=max_split_size_mb:128 to avoid "
    "fragmentation.";

// Of an expandable segment each part with memory is reported as a segment, from its first block on. Moves `block` to the
// first one behind it.
SegmentInfo describe(const Segment& segment, const Block*& block, c10::DeviceIndex device, c10::MempoolId_t pool) {
  SegmentInfo info;
  info.device = device;
  info.address = reinterpret_cast<size_t>(block->ptr);
  info.stream = segment.home->stream;
  info.is_large = !segment.pool->is_small;
  info.is_expandable = segment.expandable != nullptr;
  info.owner_private_pool_id = pool;
  info.context_when_allocated = segment.context;
  const uint64_t clock = segment.pool->clock;
  for (; block != nullptr && block->state != BlockState::kUnmapped; block = block->next) {
    BlockInfo& each = info.blocks.emplace_back();
    each.size = block->size;
    each.requested_size = block->requested;
    each.allocated = block->state == BlockState::kAllocated;
    each.active = each.allocated || block->state == BlockState::kPending;
    each.gc_counter = block->state == BlockState::kFree ? static_cast<int32_t>(clock - block->freed_at) : 0;
    each.context_when_allocated = block->context;
    info.total_size += block->size;
    info.requested_size += each.active ? block->requested : 0;
    info.allocated_size += each.allocated ? block->size : 0;
    info.active_size += each.active ? block->size : 0;
  }
  return info;
}

}  // namespace

void DeviceCache::throw_out_of_memory(Lock& lock, const Request& request) {
  ++stats_.num_ooms;
  const std::string advice = source_ != nullptr ? source_->advice(lock) : kAdvice;
  MemoryInfo info;
  {
    const ScopedUnlock unlocked(lock);
    info = memory_info(device_);
  }
  const auto [free, total] = info;
  record(TraceEntry::OOM, free, request.requested, request.home->stream, request.pool->id(), *request.context,
      RecordContext::ALLOC);
  const Totals held = totals();
  size_t private_bytes = 0;
  for (const auto& [id, stat] : stats_.reserved_bytes_by_private_pools) {
    private_bytes += static_cast<size_t>(stat[0].current);
  }
  std::string message = c10::str(
      "openreg out of memory. Tried to allocate ", format_size(request.requested), " (", request.requested, " bytes) on ",
      c10::Device(c10::DeviceType::PrivateUse1, device_), ", which has ", format_size(free), " free of ", format_size(total),
      "; ", format_size(held.allocated), " are allocated by PyTorch, and ", format_size(held.reserved - held.allocated),
      " are reserved by PyTorch but unallocated.", request.refusal);
  if (private_bytes > 0) {
    message += c10::str(" Private pools (such as those of graphs) have reserved ", format_size(private_bytes), ".");
  }
  if (fraction_ < 1) {
    const auto allowed = static_cast<uint64_t>(fraction_ * static_cast<double>(device_memory_));
    message += c10::str(" This process may use ", format_size(allowed), " (set_per_process_memory_fraction).");
  }
  message += advice;
  {
    const ScopedUnlock unlocked(lock);  // they may throw: the pool that the request was for is let go of with the lock held
    std::vector<OutOfMemoryObserver> observers;
    {
      const std::lock_guard<std::mutex> guard(shared_.mutex);
      observers = shared_.observers;
    }
    for (const OutOfMemoryObserver& observer : observers) {
      observer(device_, request.requested, total, free);
    }
    if (c10::memoryProfilingEnabled()) {
      const c10::Device device(c10::DeviceType::PrivateUse1, device_);
      c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(request.requested), held.allocated, held.reserved, device);
    }
  }
  TORCH_CHECK_WITH(OutOfMemoryError, false, message);
  std::abort();  // unreachable; the macro's throw is conditional to the compiler
}

void DeviceCache::learn_device_memory(Lock& lock) {
  if (device_memory_ != 0) {
    return;
  }
  orDeviceProperties properties{};
  {
    const ScopedUnlock unlocked(lock);
    if (orGetDeviceProperties(&properties, device_) != orSuccess) {
      orGetLastError();
      return;  // asked again the next time
    }
  }
  device_memory_ = properties.totalMemory;
}

void DeviceCache::set_memory_fraction(double fraction) {
  TORCH_CHECK_VALUE(fraction > 0 && fraction <= 1, "openreg: a memory fraction is above 0 and at most 1, not ", fraction);
  Lock lock(mutex_);
  learn_device_memory(lock);
  TORCH_CHECK(device_memory_ > 0, "openreg: the device does not say how much memory it has");
  fraction_ = fraction;
}

double DeviceCache::memory_fraction() {
  const Lock lock(mutex_);
  return fraction_;
}

size_t DeviceCache::largest_available() {
  const auto [device_free, total] = memory_info(device_);
  Lock lock(mutex_);
  learn_device_memory(lock);
  size_t largest = device_free;
  if (fraction_ < 1) {
    const auto allowed = static_cast<size_t>(fraction_ * static_cast<double>(device_memory_));
    largest = std::min(largest, allowed - std::min(allowed, reserved_));
  }
  for (BlockPool* pool : {&small_, &large_}) {
    settle(*pool);
    for (const auto& blocks : pool->streams()) {
      blocks->free.for_each([&](Block* block) { largest = std::max(largest, block->size); });
    }
  }
  return largest;
}

DeviceStats DeviceCache::stats() {
  const Lock lock(mutex_);
  DeviceStats stats = stats_;
  stats.max_split_size = static_cast<int64_t>(max_split_size());  // -1: no limit
  return stats;
}

void DeviceCache::reset_accumulated_stats() {
  const Lock lock(mutex_);
  reset_accumulated(stats_);
}

void DeviceCache::reset_peak_stats() {
  const Lock lock(mutex_);
  reset_peak(stats_);
}

void DeviceCache::snapshot(c10::MempoolId_t pool, bool include_traces, SnapshotInfo& out) {
  History* const history = recording();
  const Context context = history == nullptr ? nullptr : history->gather(RecordContext::ALL);
  const Lock lock(mutex_);
  settle_all();
  const bool all = pool == c10::MempoolId_t{0, 0};
  for (const auto& [base, segment] : segments_) {
    if (!all && segment->pool->id() != pool) {
      continue;
    }
    for (const Block* block = segment->first; block != nullptr;) {
      if (block->state == BlockState::kUnmapped) {
        block = block->next;
      } else {
        out.segments.push_back(describe(*segment, block, device_, segment->pool->id()));
      }
    }
  }
  const auto active = static_cast<size_t>(stats_.active_bytes[0].current);
  record(TraceEntry::SNAPSHOT, 0, active, nullptr, {0, 0}, context, RecordContext::ALL);
  const bool traced = include_traces && extensions.history != nullptr;
  out.device_traces.push_back(traced ? extensions.history->entries(device_) : std::vector<TraceEntry>());
}

}  // namespace openreg::caching
