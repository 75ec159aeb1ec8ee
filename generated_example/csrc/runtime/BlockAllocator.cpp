// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/BlockAllocator.h"

#include <cstdlib>
#include <iterator>
#include <mutex>
#include <utility>

#include <c10/core/AllocatorConfig.h>
#include <c10/util/Exception.h>

#include "runtime/DeviceScope.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Stream.h"

namespace openreg {

namespace {

// The allocator a live pointer came from: there may be several, one per pool, and a deleter is a plain function.
struct Owners {
  std::mutex mutex;
  std::unordered_map<void*, BlockAllocator*> by_address;
};

Owners& owners() {
  static auto* const instance = new Owners();  // never destroyed: tensors may outlive main()
  return *instance;
}

}  // namespace

c10::DataPtr BlockAllocator::allocate(size_t size) {
  const c10::DeviceIndex index = current_device();  // nothing may be thrown once there is memory
  void* const data = raw_alloc_with_stream(size, currentStreamHandle(index));
  return {data, data, raw_deleter(), c10::Device(c10::DeviceType::PrivateUse1, index)};
}

void* BlockAllocator::raw_alloc(size_t nbytes) {
  return raw_alloc_with_stream(nbytes, currentStreamHandle(current_device()));
}

void* BlockAllocator::raw_alloc_with_stream(size_t nbytes, orStream_t stream) {
  if (nbytes == 0) {
    return nullptr;
  }
  Block block = block_of(nbytes);
  block.stream = stream;
  std::string reason;
  const auto get = [&] { return is_too_much(block) ? nullptr : obtain(block, reason); };
  void* data = get();
  if (data == nullptr) {
    const bool retried = retry_refused();
    if (callFreeMemoryCallbacks() || retried) {
      data = get();
    }
  }
  if (data == nullptr) {
    throw_out_of_memory(block, reason);
  }
  add(data, block);
  {
    const std::lock_guard<std::mutex> lock(owners().mutex);
    owners().by_address[data] = this;
  }
  fire_hook(&TraceHooks::trace_gpu_memory_allocation, data);
  report(data, block, static_cast<int64_t>(block.bytes));
  return data;
}

void* BlockAllocator::obtain(Block& block, std::string& reason) {
  void* data = nullptr;
  const orError_t error = orMalloc(&data, block.bytes);
  if (error == orErrorMemoryAllocation) {
    reason = detail::refused_memory();
    return nullptr;
  }
  OPENREG_CHECK(error);
  return data;
}

bool BlockAllocator::give_back(void* data, const Block&) noexcept {
  const orError_t error = orFree(data);
  OPENREG_WARN(error);
  return error == orSuccess;
}

void BlockAllocator::report(void* data, const Block& block, int64_t change) {
  if (c10::memoryProfilingEnabled()) {
    const DeviceStats stats = DirectAllocator::getDeviceStats(block.device);
    c10::reportMemoryUsageToProfiler(data, change, static_cast<size_t>(stats.allocated_bytes[0].current),
        static_cast<size_t>(stats.reserved_bytes[0].current), c10::Device(c10::DeviceType::PrivateUse1, block.device));
  }
}

void BlockAllocator::throw_out_of_memory(const Block& block, const std::string& reason) {
  using c10::CachingAllocator::format_size;
  const c10::Device device(c10::DeviceType::PrivateUse1, block.device);
  const auto [free, total] = memory_info(block.device);
  std::vector<OutOfMemoryObserver> observers;
  std::string limit;
  size_t allocated = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    DeviceStats& stats = stats_[block.device];
    ++stats.num_ooms;
    allocated = static_cast<size_t>(stats.allocated_bytes[0].current);
    observers = observers_;
    if (const auto found = fractions_.find(block.device); found != fractions_.end()) {
      const auto allowed = static_cast<size_t>(found->second * static_cast<double>(total));
      limit = c10::str(" The process may take ", format_size(allowed), " (set_per_process_memory_fraction).");
    }
  }
  if (c10::memoryProfilingEnabled()) {
    c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(block.requested), allocated, allocated, device);
  }
  for (const OutOfMemoryObserver& observer : observers) {
    observer(block.device, block.requested, total, free);
  }
  TORCH_CHECK_WITH(
      OutOfMemoryError, false,
      "openreg out of memory. Tried to allocate ", format_size(block.requested), " (", block.requested, " bytes) on ", device,
      ", which has ", format_size(free), " free of ", format_size(total), "; ",
      format_size(allocated), " are allocated by PyTorch.", reason, limit);
  std::abort();  // unreachable; the macro's throw is conditional to the compiler
}

// Deleters run at any time, on any thread, also while the process exits: this warns and never throws.
void BlockAllocator::delete_through_owner(void* data) {
  if (data == nullptr || isInBadFork()) {
    return;
  }
  BlockAllocator* owner = nullptr;
  {
    const std::lock_guard<std::mutex> lock(owners().mutex);
    const auto found = owners().by_address.find(data);
    owner = found == owners().by_address.end() ? nullptr : found->second;
  }
  if (owner != nullptr) {
    owner->free(data);
  }
}

bool BlockAllocator::free(void* data) noexcept {
  bool live = false;
  never_throw("memory was freed", [&] {
    const std::optional<Block> block = remove(data);
    live = block.has_value();
    if (!live) {
      return;
    }
    {
      const std::lock_guard<std::mutex> lock(owners().mutex);
      owners().by_address.erase(data);
    }
    if (!give_back(data, *block)) {
      add(data, *block);
      const std::lock_guard<std::mutex> lock(mutex_);
      refused_.push_back(data);
      return;
    }
    report(data, *block, -static_cast<int64_t>(block->bytes));
  });
  return live;
}

void BlockAllocator::raw_delete(void* ptr) {
  TORCH_CHECK(ptr == nullptr || free(ptr), "openreg: ", ptr, " is not a live allocation of the ", name(), " allocator");
}

// Nothing is cached; what others keep can go.
void BlockAllocator::emptyCache(c10::MempoolId_t) {
  callFreeMemoryCallbacks();
  retry_refused();
}

// True if there was anything.
bool BlockAllocator::retry_refused() {
  std::vector<void*> refused;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    refused.swap(refused_);
  }
  for (void* data : refused) {
    free(data);
  }
  return !refused.empty();
}

void BlockAllocator::recordStream(const c10::DataPtr&, c10::Stream stream) {
  TORCH_CHECK(stream.device_type() == c10::DeviceType::PrivateUse1, "expected a stream of openreg, got ", stream);
}

bool BlockAllocator::is_too_much(const Block& block) {
  if (block.bytes < block.requested) {  // a sum that overflowed: no device has that much
    return true;
  }
  if (!has_fractions_.load(std::memory_order_relaxed)) {
    return false;
  }
  const double fraction = getMemoryFraction(block.device);
  const auto held = static_cast<size_t>(DirectAllocator::getDeviceStats(block.device).reserved_bytes[0].current);
  const auto total = static_cast<double>(getMemoryInfo(block.device).second);
  return fraction < 1 && static_cast<double>(held + block.bytes) > fraction * total;
}

double BlockAllocator::getMemoryFraction(c10::DeviceIndex device) {
  device = resolve_device_index(device);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = fractions_.find(device);
  return found == fractions_.end() ? 1.0 : found->second;
}

void BlockAllocator::setMemoryFraction(double fraction, c10::DeviceIndex device) {
  TORCH_CHECK(0 <= fraction && fraction <= 1, "invalid fraction: ", fraction, ". Please set within [0, 1].");
  device = resolve_device_index(device);
  const std::lock_guard<std::mutex> lock(mutex_);
  fractions_[device] = fraction;
  has_fractions_.store(true, std::memory_order_relaxed);
}

void* BlockAllocator::getBaseAllocation(void* ptr, size_t* size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto after = blocks_.upper_bound(ptr);
  TORCH_CHECK(
      after != blocks_.begin() && static_cast<char*>(ptr) < static_cast<char*>(std::prev(after)->first) + std::prev(after)->second.bytes,
      "openreg: ", ptr, " is not in a live allocation of the ", name(), " allocator");
  const auto& [base, block] = *std::prev(after);
  if (size != nullptr) {
    *size = block.bytes;
  }
  return base;
}

// Each block is its own segment. No history.
SnapshotInfo BlockAllocator::snapshot(c10::MempoolId_t mempool_id, bool) {
  TORCH_CHECK_NOT_IMPLEMENTED(mempool_id == c10::MempoolId_t(0, 0), "openreg: the ", name(), " allocator can't snapshot a pool");
  SnapshotInfo info;
  info.device_traces.resize(static_cast<size_t>(device_count()));
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [address, block] : blocks_) {
    SegmentInfo segment;
    segment.device = block.device;
    segment.address = reinterpret_cast<size_t>(address);
    segment.total_size = segment.allocated_size = segment.active_size = block.bytes;
    segment.requested_size = block.requested;
    segment.stream = block.stream;
    segment.is_large = block.requested > c10::CachingAllocator::kSmallSize;
    c10::CachingDeviceAllocator::BlockInfo& part = segment.blocks.emplace_back();
    part.size = block.bytes;
    part.requested_size = block.requested;
    part.allocated = part.active = true;
    info.segments.push_back(std::move(segment));
  }
  return info;
}

void BlockAllocator::attachOutOfMemoryObserver(OutOfMemoryObserver observer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  observers_.push_back(std::move(observer));
}

}  // namespace openreg
