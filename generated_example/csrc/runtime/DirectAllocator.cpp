// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <openreg.h>

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <c10/core/AllocatorConfig.h>
#include <c10/util/Exception.h>

#include "runtime/Allocator.h"
#include "runtime/AllocatorStats.h"
#include "runtime/DeviceAllocator.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/Stream.h"

// Note [The direct allocator]
// Each storage is one allocation of the device: nothing is cached, split or reused. It is the simplest allocator that
// is right, and the one to measure others against. Its price is that every free waits for the device.
//
// That wait is also what makes it safe: memory goes away only once all that was queued has run, on any stream, so a
// kernel may hold raw pointers, and recordStream has nothing to remember.

namespace openreg {

namespace {

constexpr size_t kAlignment = 64;  // bytes; sizes are rounded up to it (allocator.alignment)

struct Block {
  c10::DeviceIndex device;
  size_t requested;
  size_t bytes;
  void* stream;  // the native handle of the stream it was allocated for
};

class DirectAllocator final : public OpenRegAllocator {
 public:
  c10::DataPtr allocate(size_t size) override;
  c10::DeleterFnPtr raw_deleter() const override { return &DirectAllocator::deleter; }
  bool is_simple_data_ptr(const c10::DataPtr& data) const override { return data.get() == data.get_context(); }
  void copy_data(void* destination, const void* source, size_t size) const override;

  bool initialized() override { return !isInBadFork() && device_count() > 0; }
  void emptyCache(c10::MempoolId_t) override {}  // there is no cache
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override;
  AllocatorStats::DeviceStats getDeviceStats(c10::DeviceIndex device) override;
  void resetAccumulatedStats(c10::DeviceIndex device) override;
  void resetPeakStats(c10::DeviceIndex device) override;
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override;

  std::string name() override { return "direct"; }
  void* raw_alloc(size_t nbytes) override { return allocate(nbytes).release_context(); }
  void* raw_alloc_with_stream(size_t nbytes, orStream_t) override { return raw_alloc(nbytes); }
  void raw_delete(void* ptr) override;
  double getMemoryFraction(c10::DeviceIndex device) override;
  void setMemoryFraction(double fraction, c10::DeviceIndex device) override;
  void* getBaseAllocation(void* ptr, size_t* size) override;
  SnapshotInfo snapshot(c10::MempoolId_t mempool_id, bool include_traces) override;
  void attachOutOfMemoryObserver(OutOfMemoryObserver observer) override;

 private:
  static void deleter(void* data);
  void free(void* data);
  bool exceeds_fraction(c10::DeviceIndex device, size_t bytes);
  [[noreturn]] void throw_out_of_memory(c10::DeviceIndex device, size_t size);
  std::optional<Block> forget(void* data);

  std::mutex mutex_;  // guards what follows, up to stats_
  std::map<void*, Block> blocks_;  // by address, for getBaseAllocation
  std::unordered_map<c10::DeviceIndex, double> fractions_;  // only those that were set
  std::vector<OutOfMemoryObserver> observers_;
  std::atomic<bool> has_fractions_{false};
  AllocatorStats stats_;
};

// Not getDeviceAllocator(): a process may have put another in its place.
DirectAllocator* instance = nullptr;

c10::DataPtr DirectAllocator::allocate(size_t size) {
  const c10::DeviceIndex index = current_device();
  const c10::Device device(c10::DeviceType::PrivateUse1, index);
  if (size == 0) {
    return {nullptr, nullptr, &DirectAllocator::deleter, device};
  }
  initialize();
  mark_device_used(index);
  const size_t bytes = (size + kAlignment - 1) / kAlignment * kAlignment;
  void* data = nullptr;
  // A sum that overflowed is smaller than the request: no device has that much.
  const auto get = [&] {
    const bool too_much = bytes < size || exceeds_fraction(index, bytes);
    return too_much ? orErrorMemoryAllocation : orMalloc(&data, bytes);
  };
  orError_t error = get();
  if (error == orErrorMemoryAllocation && callFreeMemoryCallbacks()) {
    error = get();
  }
  if (error == orErrorMemoryAllocation) {
    throw_out_of_memory(index, size);
  }
  OPENREG_CHECK(error);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_.emplace(data, Block{index, size, bytes, getCurrentStream(index).stream()});
  }
  const AllocatorStats::Totals totals = stats_.allocated(index, size, bytes);
  if (c10::memoryProfilingEnabled()) {
    const auto change = static_cast<int64_t>(bytes);
    c10::reportMemoryUsageToProfiler(data, change, totals.allocated, totals.reserved, device);
  }
  return {data, data, &DirectAllocator::deleter, device};
}

void DirectAllocator::throw_out_of_memory(c10::DeviceIndex index, size_t size) {
  using c10::CachingAllocator::format_size;
  orGetLastError();
  const c10::Device device(c10::DeviceType::PrivateUse1, index);
  const AllocatorStats::Totals totals = stats_.out_of_memory(index);
  if (c10::memoryProfilingEnabled()) {
    c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(size), totals.allocated, totals.reserved, device);
  }
  const auto [free, total] = getMemoryInfo(index);
  std::vector<OutOfMemoryObserver> observers;
  std::string limit;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    observers = observers_;
    if (const auto found = fractions_.find(index); found != fractions_.end()) {
      const auto allowed = static_cast<size_t>(found->second * static_cast<double>(total));
      limit = c10::str(" The process may take ", format_size(allowed), " (set_per_process_memory_fraction).");
    }
  }
  for (const OutOfMemoryObserver& observer : observers) {
    observer(index, totals.allocated, total, free);
  }
  TORCH_CHECK_WITH(
      OutOfMemoryError, false,
      "openreg out of memory. Tried to allocate ", format_size(size), " (", size, " bytes) on ", device,
      ", which has ", format_size(free), " free of ", format_size(total), "; ",
      format_size(totals.allocated), " are allocated by PyTorch.", limit);
  std::abort();  // unreachable; the macro's throw is conditional to the compiler
}

std::optional<Block> DirectAllocator::forget(void* data) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blocks_.find(data);
  if (found == blocks_.end()) {
    return std::nullopt;
  }
  const Block block = found->second;
  blocks_.erase(found);
  return block;
}

// Deleters run at any time, on any thread, also while the process exits: this warns and never throws.
void DirectAllocator::free(void* data) {
  if (data == nullptr || isInBadFork()) {
    return;
  }
  const std::optional<Block> block = forget(data);  // before the free: afterwards the address may belong to another
  const orError_t error = orFree(data);
  OPENREG_WARN(error);
  if (!block || error != orSuccess) {
    return;
  }
  const AllocatorStats::Totals totals = stats_.freed(block->device, block->requested, block->bytes);
  if (c10::memoryProfilingEnabled()) {
    const c10::Device device(c10::DeviceType::PrivateUse1, block->device);
    const auto change = -static_cast<int64_t>(block->bytes);
    c10::reportMemoryUsageToProfiler(data, change, totals.allocated, totals.reserved, device);
  }
}

void DirectAllocator::deleter(void* data) {
  instance->free(data);
}

void DirectAllocator::copy_data(void* destination, const void* source, size_t size) const {
  OPENREG_CHECK(orMemcpy(destination, source, size, orMemcpyDeviceToDevice));
}

void DirectAllocator::recordStream(const c10::DataPtr&, c10::Stream stream) {
  TORCH_CHECK(stream.device_type() == c10::DeviceType::PrivateUse1, "expected a stream of openreg, got ", stream);
}

AllocatorStats::DeviceStats DirectAllocator::getDeviceStats(c10::DeviceIndex device) {
  return stats_.get(resolve_device_index(device));
}

void DirectAllocator::resetAccumulatedStats(c10::DeviceIndex device) {
  stats_.reset_accumulated(resolve_device_index(device));
}

void DirectAllocator::resetPeakStats(c10::DeviceIndex device) {
  stats_.reset_peak(resolve_device_index(device));
}

std::pair<size_t, size_t> DirectAllocator::getMemoryInfo(c10::DeviceIndex device) {
  const OpenRegGuard guard(resolve_device_index(device));
  size_t free = 0;
  size_t total = 0;
  OPENREG_CHECK(orMemGetInfo(&free, &total));
  return {free, total};
}

void DirectAllocator::raw_delete(void* ptr) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    TORCH_CHECK(ptr == nullptr || blocks_.count(ptr) != 0, "openreg: ", ptr, " is no live allocation");
  }
  free(ptr);
}

bool DirectAllocator::exceeds_fraction(c10::DeviceIndex device, size_t bytes) {
  if (!has_fractions_.load(std::memory_order_relaxed)) {
    return false;
  }
  const double fraction = getMemoryFraction(device);
  const size_t held = static_cast<size_t>(stats_.get(device).reserved_bytes[0].current);
  return fraction < 1 && static_cast<double>(held + bytes) > fraction * static_cast<double>(getMemoryInfo(device).second);
}

double DirectAllocator::getMemoryFraction(c10::DeviceIndex device) {
  device = resolve_device_index(device);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = fractions_.find(device);
  return found == fractions_.end() ? 1.0 : found->second;
}

void DirectAllocator::setMemoryFraction(double fraction, c10::DeviceIndex device) {
  TORCH_CHECK(0 <= fraction && fraction <= 1, "invalid fraction: ", fraction, ". Please set within [0, 1].");
  device = resolve_device_index(device);
  const std::lock_guard<std::mutex> lock(mutex_);
  fractions_[device] = fraction;
  has_fractions_.store(true, std::memory_order_relaxed);
}

void* DirectAllocator::getBaseAllocation(void* ptr, size_t* size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto after = blocks_.upper_bound(ptr);
  TORCH_CHECK(
      after != blocks_.begin() && static_cast<char*>(ptr) < static_cast<char*>(std::prev(after)->first) + std::prev(after)->second.bytes,
      "openreg: ", ptr, " is in no live allocation");
  const auto& [base, block] = *std::prev(after);
  if (size != nullptr) {
    *size = block.bytes;
  }
  return base;
}

// Each block is a segment of its own. There is no history.
SnapshotInfo DirectAllocator::snapshot(c10::MempoolId_t mempool_id, bool) {
  TORCH_CHECK(mempool_id == c10::MempoolId_t(0, 0), "openreg: the direct allocator has no pools");
  SnapshotInfo info;
  info.device_traces.resize(static_cast<size_t>(device_count()));
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [address, block] : blocks_) {
    c10::CachingDeviceAllocator::SegmentInfo segment;
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

void DirectAllocator::attachOutOfMemoryObserver(OutOfMemoryObserver observer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  observers_.push_back(std::move(observer));
}

}  // namespace

std::unique_ptr<c10::DeviceAllocator> makeDeviceAllocator() {
  auto allocator = std::make_unique<DirectAllocator>();
  instance = allocator.get();
  return allocator;
}

}  // namespace openreg
