// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/caching/CachingAllocator.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include <c10/core/AllocatorConfig.h>
#include <c10/util/Exception.h>

#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Stream.h"
#include "runtime/caching/DeviceCache.h"
#include "runtime/caching/History.h"
#include "runtime/caching/Settings.h"

// Note [The caching allocator]
// Freed memory is kept and reused, so that allocating needs no call to the device. Memory that was
// freed on a stream can be reused on that stream at once, because the stream works in order. Work on other streams
// must be reported with recordStream(), or the memory may change under it.
// This file is the face of it; DeviceCache.h says where the rest is.

namespace openreg {

namespace {

using caching::Allocation;
using caching::Context;
using caching::DeviceCache;
using caching::DeviceStats;

// Debugging of the device's memory sees device allocations; it can't distinguish blocks of a cache.
bool debugs_memory() {
  const char* const text = std::getenv("OPENREG_MEMORY_DEBUG");
  return text != nullptr && std::strcmp(text, "1") == 0;
}

class CachingAllocator final : public OpenRegAllocator {
 public:
  CachingAllocator() { caching::apply_default_settings(); }

  c10::DataPtr allocate(size_t size) override;
  c10::DeleterFnPtr raw_deleter() const override { return &CachingAllocator::deleter; }
  void emptyCache(c10::MempoolId_t mempool_id) override;
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override;
  DeviceStats getDeviceStats(c10::DeviceIndex device) override { return cache(device).stats(); }
  void resetAccumulatedStats(c10::DeviceIndex device) override { cache(device).reset_accumulated_stats(); }
  void resetPeakStats(c10::DeviceIndex device) override { cache(device).reset_peak_stats(); }

  void* raw_alloc(size_t nbytes) override;
  void* raw_alloc_with_stream(size_t nbytes, orStream_t stream) override;
  void raw_delete(void* ptr) override { free(ptr); }
  double getMemoryFraction(c10::DeviceIndex device) override { return cache(device).memory_fraction(); }
  void setMemoryFraction(double fraction, c10::DeviceIndex device) override { cache(device).set_memory_fraction(fraction); }
  void enable(bool value) override { enabled_.store(value, std::memory_order_relaxed); }
  bool isEnabled() const override { return enabled_.load(std::memory_order_relaxed); }
  void cacheInfo(c10::DeviceIndex device, size_t* largestBlock) override;
  void* getBaseAllocation(void* ptr, size_t* size) override;
  SnapshotInfo snapshot(c10::MempoolId_t mempool_id, bool include_traces) override;
  PoolAllocator* pools() override { return caching::extensions.pools; }

  void attachOutOfMemoryObserver(OutOfMemoryObserver observer) override;
  std::string name() override { return "native"; }
  void recordHistory(bool enabled, CreateContextFn recorder, size_t max_entries, RecordContext when, bool clear,
      const std::vector<std::string>& skip_actions) override {
    caching::history().set(enabled, recorder, max_entries, when, clear, skip_actions);
  }
  bool isHistoryEnabled() override { return caching::history().enabled(); }
  Context getContextForPointer(const void* ptr) override {
    Context context;
    find_cache([&](DeviceCache& each) { return (context = each.context_of(ptr)) != nullptr; });
    return context;
  }
  void recordAnnotation(const std::vector<std::pair<std::string, std::string>>& metadata) override {
    if (isHistoryEnabled()) {
      caching::history().annotate(current_device(), metadata);
    }
  }
  void pushCompileContext(std::string& context) override { caching::thread_notes().compile_contexts.push_back(context); }
  void popCompileContext() override {
    if (!caching::thread_notes().compile_contexts.empty()) {
      caching::thread_notes().compile_contexts.pop_back();
    }
  }
  void setUserMetadata(const std::string& metadata) override { caching::thread_notes().user_metadata = metadata; }
  std::string getUserMetadata() override { return caching::thread_notes().user_metadata; }
  void attachAllocatorTraceTracker(AllocatorTraceTracker tracker) override { caching::history().add_tracker(std::move(tracker)); }
  DeviceCache& cache(c10::DeviceIndex device) { return caches()[static_cast<size_t>(resolve_device_index(device))]; }

 private:
  static void deleter(void* data);
  void* allocate_on(c10::DeviceIndex device, size_t size, orStream_t stream);
  void free(void* ptr);
  std::deque<DeviceCache>& caches();
  /// Calls fn(cache) for each device, the current one first, until it returns true.
  template <typename Fn>
  bool find_cache(Fn fn);

  caching::SharedState shared_;
  std::once_flag once_;
  std::deque<DeviceCache> storage_;
  std::atomic<std::deque<DeviceCache>*> caches_{nullptr};  // set once the storage is filled
  std::atomic<bool> enabled_{!debugs_memory()};
};

CachingAllocator& caching_allocator() {
  static CachingAllocator* const allocator = new CachingAllocator;  // never destroyed: tensors may outlive main()
  return *allocator;
}

std::deque<DeviceCache>& CachingAllocator::caches() {
  std::deque<DeviceCache>* made = caches_.load(std::memory_order_acquire);
  if (C10_LIKELY(made != nullptr)) {
    return *made;
  }
  std::call_once(once_, [this] {
    const c10::DeviceIndex count = device_count_ensure_non_zero();
    for (c10::DeviceIndex device = 0; device < count; ++device) {
      storage_.emplace_back(device, shared_);
    }
    caches_.store(&storage_, std::memory_order_release);
  });
  return storage_;
}

[[maybe_unused]] const bool caching_allocator_registered = [] {
  c10::SetAllocator(c10::DeviceType::PrivateUse1, &caching_allocator(), kAllocatorPriority);
  return true;
}();

template <typename Fn>
bool CachingAllocator::find_cache(Fn fn) {
  std::deque<DeviceCache>* all = caches_.load(std::memory_order_acquire);
  if (all == nullptr) {
    return false;
  }
  int current = 0;
  if (orGetDevice(&current) != orSuccess) {
    orGetLastError();
    current = 0;
  }
  const auto first = static_cast<size_t>(current);
  if (fn((*all)[first])) {
    return true;
  }
  for (size_t i = 0; i < all->size(); ++i) {
    if (i != first && fn((*all)[i])) {
      return true;
    }
  }
  return false;
}

void* CachingAllocator::allocate_on(c10::DeviceIndex device, size_t size, orStream_t stream) {
  initialize();
  mark_device_used(device);
  if (C10_UNLIKELY(!isEnabled())) {
    void* data = nullptr;
    OPENREG_CHECK(orMalloc(&data, size));
    fire_hook(&TraceHooks::trace_gpu_memory_allocation, data);
    return data;
  }
  const Allocation made = caches()[static_cast<size_t>(device)].allocate(size, stream);
  if (C10_UNLIKELY(c10::memoryProfilingEnabled())) {
    c10::reportMemoryUsageToProfiler(made.ptr, static_cast<int64_t>(made.bytes), made.totals.allocated,
        made.totals.reserved, c10::Device(c10::DeviceType::PrivateUse1, device));
  }
  fire_hook(&TraceHooks::trace_gpu_memory_allocation, made.ptr);
  return made.ptr;
}

c10::DataPtr CachingAllocator::allocate(size_t size) {
  const c10::DeviceIndex index = current_device();
  const c10::Device device(c10::DeviceType::PrivateUse1, index);
  if (size == 0) {
    return {nullptr, nullptr, &CachingAllocator::deleter, device};
  }
  void* data = allocate_on(index, size, currentStreamHandle(index));
  return {data, data, &CachingAllocator::deleter, device};
}

void* CachingAllocator::raw_alloc(size_t nbytes) {
  const c10::DeviceIndex index = current_device();
  return nbytes == 0 ? nullptr : allocate_on(index, nbytes, currentStreamHandle(index));
}

void* CachingAllocator::raw_alloc_with_stream(size_t nbytes, orStream_t stream) {
  return nbytes == 0 ? nullptr : allocate_on(current_device(), nbytes, stream);
}

// Deleters run at any time, on any thread, also while the process exits: this warns and never throws.
void CachingAllocator::free(void* ptr) {
  if (ptr == nullptr || isInBadFork()) {
    return;
  }
  c10::DeviceIndex device = -1;
  Allocation freed;
  const bool cached = find_cache([&](DeviceCache& each) {
    device = each.device();
    return each.free(ptr, &freed);
  });
  if (C10_UNLIKELY(!cached)) {
    OPENREG_WARN(orFree(ptr));  // from while caching was off
  } else if (C10_UNLIKELY(c10::memoryProfilingEnabled())) {
    c10::reportMemoryUsageToProfiler(ptr, -static_cast<int64_t>(freed.bytes), freed.totals.allocated,
        freed.totals.reserved, c10::Device(c10::DeviceType::PrivateUse1, device));
  }
}

void CachingAllocator::deleter(void* data) {
  never_throw("memory was freed", [&] { caching_allocator().free(data); });
}

void CachingAllocator::emptyCache(c10::MempoolId_t mempool_id) {
  if (mempool_id == c10::MempoolId_t(0, 0)) {
    callFreeMemoryCallbacks();
  }
  for (DeviceCache& each : caches()) {
    each.empty_cache(mempool_id);
  }
}

void CachingAllocator::recordStream(const c10::DataPtr& data, c10::Stream stream) {
  const OpenRegStream used(stream);  // throws on a stream of another device type
  if (data.get() == nullptr) {
    return;
  }
  // By the address: sharing between processes has given the memory another owner, with a context of its own. Memory of
  // somebody else, who looks after it, is not found.
  const caching::StreamUse use{used.stream(), used.device_index()};
  find_cache([&](DeviceCache& each) { return each.record_stream(data.get(), use); });
  fire_hook(&TraceHooks::trace_gpu_event_record, data.get(), stream.hash());
}

void CachingAllocator::cacheInfo(c10::DeviceIndex device, size_t* largestBlock) {
  *largestBlock = std::max(*largestBlock, cache(device).largest_available());
}

void* CachingAllocator::getBaseAllocation(void* ptr, size_t* size) {
  void* base = nullptr;
  size_t bytes = 0;
  TORCH_CHECK(
      find_cache([&](DeviceCache& each) { return each.base_allocation(ptr, &base, &bytes); }),
      "openreg: the allocator has not handed out ", ptr);
  if (size != nullptr) {
    *size = bytes;
  }
  return base;
}

SnapshotInfo CachingAllocator::snapshot(c10::MempoolId_t mempool_id, bool include_traces) {
  using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;
  SnapshotInfo info;
  for (DeviceCache& each : caches()) {
    each.snapshot(mempool_id, include_traces, info);
  }
  if (caching::extensions.history != nullptr) {
    caching::extensions.history->complete(info);
  }
  const bool expandable = caching::extensions.make_segment_source != nullptr && Config::use_expandable_segments();
  info.config_metadata = {caching::garbage_collection_threshold(), caching::max_split_size(), expandable,
      getAllocatorSettings(), Config::roundup_power2_divisions()};
  return info;
}

void CachingAllocator::attachOutOfMemoryObserver(OutOfMemoryObserver observer) {
  const std::lock_guard<std::mutex> lock(shared_.mutex);
  shared_.observers.push_back(std::move(observer));
}

}  // namespace

caching::DeviceCache& caching::cache_of(c10::DeviceIndex device) {
  return caching_allocator().cache(device);
}

OpenRegAllocator* getCachingAllocator() {
  return &caching_allocator();
}

}  // namespace openreg
