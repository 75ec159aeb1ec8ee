// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/DeviceScope.h"
#include "runtime/PluggableAllocator.h"

#include <dlfcn.h>

#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>

#include <c10/core/AllocatorConfig.h>
#include <c10/util/Exception.h>

#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/Stream.h"

namespace openreg {

namespace {

// Runs a user's function; a C++ exception becomes an error that names it.
template <typename Function, typename... Args>
auto call_user(const std::string& source, const char* role, const Function& function, Args&&... args) {
  try {
    return function(std::forward<Args>(args)...);
  } catch (const c10::Error&) {
    throw;
  } catch (const std::exception& error) {
    TORCH_CHECK(false, "openreg: the ", role, " function of the pluggable allocator (", source, ") threw: ", error.what());
  } catch (...) {
    TORCH_CHECK(false, "openreg: the ", role, " function of the pluggable allocator (", source, ") threw something that is not a std::exception");
  }
}

template <typename Function>
void require(const Function& function, const std::string& source, const char* setter, const char* what) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      static_cast<bool>(function), "openreg: the pluggable allocator (", source, ") doesn't support ", what, ": it has no function for it; set one with ", setter, "()");
}

// The allocator a live pointer came from: there may be several, one per pool, and a deleter is a plain function.
struct Owners {
  std::mutex mutex;
  std::map<void*, PluggableAllocator*> by_address;
};

Owners& owners() {
  static auto* const instance = new Owners();  // never destroyed: tensors may outlive main()
  return *instance;
}

void delete_through_owner(void* data) {
  if (data == nullptr || isInBadFork()) {
    return;
  }
  PluggableAllocator* owner = nullptr;
  {
    const std::lock_guard<std::mutex> lock(owners().mutex);
    const auto found = owners().by_address.find(data);
    owner = found == owners().by_address.end() ? nullptr : found->second;
  }
  if (owner != nullptr) {
    owner->release(data);
  }
}

}  // namespace

PluggableAllocator::PluggableAllocator(
    std::function<AllocFn> alloc_fn, std::function<FreeFn> free_fn, std::string source)
    : alloc_fn_(std::move(alloc_fn)), free_fn_(std::move(free_fn)), source_(std::move(source)) {
  TORCH_CHECK(alloc_fn_ && free_fn_, "openreg: a pluggable allocator needs a function to allocate and one to free");
}

void PluggableAllocator::init_once() {
  std::call_once(init_, [this] {
    if (init_fn_) {
      call_user(source_, "init", init_fn_, static_cast<int>(device_count()));
    }
  });
}

c10::DataPtr PluggableAllocator::allocate(size_t size) {
  const c10::DeviceIndex index = current_device();
  const c10::Device device(c10::DeviceType::PrivateUse1, index);
  void* const data = size == 0 ? nullptr : malloc(size, index, getCurrentStream(index).stream());
  return {data, data, &delete_through_owner, device};
}

c10::DeleterFnPtr PluggableAllocator::raw_deleter() const {
  return &delete_through_owner;
}

void* PluggableAllocator::raw_alloc(size_t nbytes) {
  return raw_alloc_with_stream(nbytes, getCurrentStream().stream());
}

void* PluggableAllocator::raw_alloc_with_stream(size_t nbytes, orStream_t stream) {
  return nbytes == 0 ? nullptr : malloc(nbytes, current_device(), stream);
}

void* PluggableAllocator::malloc(size_t size, c10::DeviceIndex device, orStream_t stream) {
  initialize();
  init_once();
  mark_device_used(device);
  void* const data = call_user(source_, "alloc", alloc_fn_, size, static_cast<int>(device), stream);
  if (data == nullptr) {
    throw_out_of_memory(size, device);
  }
  check_memory(data, size, device, stream);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool fresh = allocations_.emplace(data, Metadata{size, device, stream}).second;
    TORCH_CHECK(
        fresh, "openreg: the alloc function of the pluggable allocator (", source_, ") returned ", data, ", which is still in use");
  }
  {
    const std::lock_guard<std::mutex> lock(owners().mutex);
    owners().by_address[data] = this;
  }
  const AllocatorStats::Totals totals = stats_.allocated(device, size, size);
  if (c10::memoryProfilingEnabled()) {
    c10::reportMemoryUsageToProfiler(
        data, static_cast<int64_t>(size), totals.allocated, totals.reserved, c10::Device(c10::DeviceType::PrivateUse1, device));
  }
  return data;
}

// A kernel that gets host memory, or another device's, fails far from here and long after.
void PluggableAllocator::check_memory(void* data, size_t size, c10::DeviceIndex device, orStream_t stream) {
  orPointerAttributes attributes{};
  if (orPointerGetAttributes(&attributes, data) != orSuccess) {
    orGetLastError();  // a port that does not know
    return;
  }
  if (attributes.type == orMemoryTypeDevice && attributes.device == device) {
    return;
  }
  call_free(data, Metadata{size, device, stream});
  TORCH_CHECK(
      attributes.type == orMemoryTypeDevice, "openreg: the alloc function of the pluggable allocator (", source_, ") returned ", data, ", which isn't memory of a device");
  TORCH_CHECK(
      false, "openreg: the alloc function of the pluggable allocator (", source_, ") returned memory of device ", attributes.device, " instead of ", static_cast<int>(device));
}

void PluggableAllocator::throw_out_of_memory(size_t size, c10::DeviceIndex index) {
  using c10::CachingAllocator::format_size;
  orGetLastError();
  const c10::Device device(c10::DeviceType::PrivateUse1, index);
  const AllocatorStats::Totals totals = stats_.out_of_memory(index);
  if (c10::memoryProfilingEnabled()) {
    c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(size), totals.allocated, totals.reserved, device);
  }
  const auto [free, total] = memory_info(index);
  std::vector<OutOfMemoryObserver> observers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    observers = observers_;
  }
  for (const OutOfMemoryObserver& observer : observers) {
    observer(index, size, total, free);
  }
  TORCH_CHECK_WITH(
      OutOfMemoryError, false,
      "openreg out of memory. Tried to allocate ", format_size(size), " (", size, " bytes) on ", device,
      ", which has ", format_size(free), " free of ", format_size(total), "; ", format_size(totals.allocated),
      " are allocated by PyTorch. The alloc function of the pluggable allocator (", source_, ") returned null.");
  std::abort();  // unreachable; the macro's throw is conditional to the compiler
}

// Runs in deleters, at any time and on any thread: it warns and never throws.
void PluggableAllocator::call_free(void* data, const Metadata& metadata) noexcept {
  never_throw("memory was freed", [&] {
    call_user(source_, "free", free_fn_, data, metadata.size, static_cast<int>(metadata.device), metadata.stream);
  });
}

void PluggableAllocator::raw_delete(void* ptr) {
  TORCH_CHECK(
      ptr == nullptr || release(ptr), "openreg: trying to free ", ptr, ", which was not allocated by the pluggable allocator (", source_, ")");
}

bool PluggableAllocator::release(void* ptr) noexcept {
  std::optional<Metadata> metadata;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = allocations_.find(ptr); found != allocations_.end()) {
      metadata = found->second;
      allocations_.erase(found);
    }
  }
  if (!metadata) {
    return false;
  }
  {
    const std::lock_guard<std::mutex> lock(owners().mutex);
    owners().by_address.erase(ptr);
  }
  // Before the function: afterwards the address may belong to another allocation.
  const AllocatorStats::Totals totals = stats_.freed(metadata->device, metadata->size, metadata->size);
  call_free(ptr, *metadata);
  if (c10::memoryProfilingEnabled()) {
    never_throw("reporting freed memory to the profiler", [&] {
      c10::reportMemoryUsageToProfiler(
          ptr, -static_cast<int64_t>(metadata->size), totals.allocated, totals.reserved,
          c10::Device(c10::DeviceType::PrivateUse1, metadata->device));
    });
  }
  return true;
}

void PluggableAllocator::copy_data(void* destination, const void* source, size_t size) const {
  // On the stream whose queued work may still use both, as memory is handed out again before that is done.
  const OpenRegStream stream = getCurrentStream();
  OPENREG_CHECK_LAUNCH(
      orMemcpyAsync(destination, source, size, orMemcpyDeviceToDevice, stream.stream()));
  stream.synchronize();
}

bool PluggableAllocator::initialized() {
  return !isInBadFork() && device_count() > 0;
}

void PluggableAllocator::emptyCache(c10::MempoolId_t) {
  if (empty_cache_fn_) {
    call_user(source_, "empty_cache", empty_cache_fn_);
  } else if (reset_fn_) {
    call_user(source_, "reset", reset_fn_);
  }
}

void PluggableAllocator::recordStream(const c10::DataPtr& data, c10::Stream stream) {
  const OpenRegStream ours(stream);  // throws if it isn't one
  if (record_stream_fn_ && data.get() != nullptr) {
    call_user(source_, "record_stream", record_stream_fn_, data.get(), ours.stream());
  }
}

c10::CachingDeviceAllocator::DeviceStats PluggableAllocator::getDeviceStats(c10::DeviceIndex device) {
  device = resolve_device_index(device);
  if (!device_stats_fn_) {
    return stats_.get(device);
  }
  c10::CachingDeviceAllocator::DeviceStats stats;
  call_user(source_, "device_stats", device_stats_fn_, static_cast<int>(device), &stats);
  return stats;
}

void PluggableAllocator::resetAccumulatedStats(c10::DeviceIndex device) {
  stats_.reset_accumulated(resolve_device_index(device));
}

void PluggableAllocator::resetPeakStats(c10::DeviceIndex device) {
  stats_.reset_peak(resolve_device_index(device));
}

std::pair<size_t, size_t> PluggableAllocator::getMemoryInfo(c10::DeviceIndex device) {
  const OpenRegGuard guard(resolve_device_index(device));
  size_t free = 0;
  size_t total = 0;
  OPENREG_CHECK(orMemGetInfo(&free, &total));
  return {free, total};
}

double PluggableAllocator::getMemoryFraction(c10::DeviceIndex device) {
  require(memory_fraction_fn_, source_, "set_memory_fraction_fn", "memory fractions");
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = fractions_.find(resolve_device_index(device));
  return found == fractions_.end() ? 1.0 : found->second;
}

void PluggableAllocator::setMemoryFraction(double fraction, c10::DeviceIndex device) {
  TORCH_CHECK(0 <= fraction && fraction <= 1, "invalid fraction: ", fraction, ". Please set within [0, 1].");
  require(memory_fraction_fn_, source_, "set_memory_fraction_fn", "memory fractions");
  device = resolve_device_index(device);
  call_user(source_, "memory_fraction", memory_fraction_fn_, fraction, static_cast<int>(device));
  const std::lock_guard<std::mutex> lock(mutex_);
  fractions_[device] = fraction;
}

void PluggableAllocator::cacheInfo(c10::DeviceIndex device, size_t* largestBlock) {
  require(cache_info_fn_, source_, "set_cache_info_fn", "cacheInfo");
  call_user(source_, "cache_info", cache_info_fn_, static_cast<int>(resolve_device_index(device)), largestBlock);
}

void* PluggableAllocator::getBaseAllocation(void* ptr, size_t* size) {
  if (base_alloc_fn_) {
    size_t ignored = 0;
    return call_user(source_, "base_alloc", base_alloc_fn_, ptr, size == nullptr ? &ignored : size);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto after = allocations_.upper_bound(ptr);
  if (after != allocations_.begin()) {
    const auto& [base, metadata] = *std::prev(after);
    if (static_cast<char*>(ptr) < static_cast<char*>(base) + metadata.size) {
      if (size != nullptr) {
        *size = metadata.size;
      }
      return base;
    }
  }
  TORCH_CHECK(false, "openreg: ", ptr, " is in no live allocation of the pluggable allocator (", source_, ")");
}

// Each allocation is its own segment, as far as is known here. No history.
SnapshotInfo PluggableAllocator::snapshot(c10::MempoolId_t mempool_id, bool) {
  TORCH_CHECK_NOT_IMPLEMENTED(mempool_id == c10::MempoolId_t(0, 0), "openreg: the pluggable allocator can't snapshot a pool");
  SnapshotInfo info;
  info.device_traces.resize(static_cast<size_t>(device_count()));
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [address, metadata] : allocations_) {
    SegmentInfo segment;
    segment.device = metadata.device;
    segment.address = reinterpret_cast<size_t>(address);
    segment.total_size = segment.allocated_size = segment.active_size = segment.requested_size = metadata.size;
    segment.stream = metadata.stream;
    segment.is_large = metadata.size > c10::CachingAllocator::kSmallSize;
    c10::CachingDeviceAllocator::BlockInfo& block = segment.blocks.emplace_back();
    block.size = block.requested_size = metadata.size;
    block.allocated = block.active = true;
    info.segments.push_back(std::move(segment));
  }
  return info;
}

void PluggableAllocator::beginAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t mempool_id, StreamFilter filter) {
  require(begin_fn_, source_, "set_begin_allocate_to_pool", "memory pools");
  call_user(source_, "begin_allocate_to_pool", begin_fn_, static_cast<int>(device), mempool_id, std::move(filter));
}

void PluggableAllocator::endAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) {
  require(end_fn_, source_, "set_end_allocate_to_pool_fn", "memory pools");
  call_user(source_, "end_allocate_to_pool", end_fn_, static_cast<int>(device), mempool_id);
}

void PluggableAllocator::releasePool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) {
  require(release_fn_, source_, "set_release_pool", "memory pools");
  call_user(source_, "release_pool", release_fn_, static_cast<int>(device), mempool_id);
}

void PluggableAllocator::attachOutOfMemoryObserver(OutOfMemoryObserver observer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  observers_.push_back(std::move(observer));
}

void changeCurrentAllocator(std::shared_ptr<OpenRegAllocator> allocator) {
  static std::mutex mutex;
  static auto* const kept = new std::shared_ptr<OpenRegAllocator>();  // never destroyed: tensors may outlive main()
  TORCH_CHECK(allocator != nullptr, "openreg: change_current_allocator() needs an allocator");
  const std::lock_guard<std::mutex> lock(mutex);
  TORCH_CHECK(
      !is_initialized(),
      "Can't swap an already initialized allocator: openreg was used before. "
      "Call change_current_allocator() before the first tensor or stream is made.");
  c10::SetAllocator(c10::DeviceType::PrivateUse1, allocator.get());
  *kept = std::move(allocator);
}

void* findSymbol(const std::string& path, const std::string& name) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    TORCH_CHECK(false, "openreg: cannot load the pluggable allocator's library: ", reason == nullptr ? path.c_str() : reason);
  }
  void* const symbol = dlsym(library, name.c_str());
  TORCH_CHECK(
      symbol != nullptr, "openreg: ", path, " has no function '", name, "'; if it is C++, declare it extern \"C\"");
  return symbol;
}

std::shared_ptr<PluggableAllocator> loadPluggableAllocator(
    const std::string& path, const std::string& alloc_fn, const std::string& free_fn) {
  auto* const alloc = reinterpret_cast<PluggableAllocator::AllocFn*>(findSymbol(path, alloc_fn));
  auto* const free = reinterpret_cast<PluggableAllocator::FreeFn*>(findSymbol(path, free_fn));
  return std::make_shared<PluggableAllocator>(alloc, free, c10::str(alloc_fn, " and ", free_fn, " of ", path));
}

}  // namespace openreg
