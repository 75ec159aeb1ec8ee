// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <openreg.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include <c10/util/Exception.h>

#include "runtime/AllocatorStats.h"
#include "runtime/DeviceAllocator.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"

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
};

class DirectAllocator final : public c10::DeviceAllocator {
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

 private:
  static void deleter(void* data);
  void free(void* data);
  [[noreturn]] void throw_out_of_memory(c10::DeviceIndex device, size_t size);
  std::optional<Block> forget(void* data);

  std::mutex mutex_;  // guards blocks_
  std::unordered_map<void*, Block> blocks_;
  AllocatorStats stats_;
};

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
  const orError_t error = bytes < size ? orErrorMemoryAllocation : orMalloc(&data, bytes);
  if (error == orErrorMemoryAllocation) {
    throw_out_of_memory(index, size);
  }
  OPENREG_CHECK(error);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_.emplace(data, Block{index, size, bytes});
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
  TORCH_CHECK_WITH(
      OutOfMemoryError, false,
      "openreg out of memory. Tried to allocate ", format_size(size), " (", size, " bytes) on ", device,
      ", which has ", format_size(free), " free of ", format_size(total), "; ",
      format_size(totals.allocated), " are allocated by PyTorch.");
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
  static_cast<DirectAllocator*>(getDeviceAllocator())->free(data);
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

}  // namespace

std::unique_ptr<c10::DeviceAllocator> makeDeviceAllocator() {
  return std::make_unique<DirectAllocator>();
}

}  // namespace openreg
