// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/PluggableAllocator.h"

#include <dlfcn.h>

#include <exception>

#include <c10/util/Exception.h>

#include "runtime/Exception.h"
#include "runtime/Functions.h"
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

}  // namespace

PluggableAllocator::PluggableAllocator(
    std::function<AllocFn> alloc_fn, std::function<FreeFn> free_fn, std::string source)
    : alloc_fn_(std::move(alloc_fn)), free_fn_(std::move(free_fn)), source_(std::move(source)) {
  TORCH_CHECK(alloc_fn_ && free_fn_, "openreg: a pluggable allocator needs a function to allocate and one to free");
}

void* PluggableAllocator::obtain(Block& block, std::string& reason) {
  std::call_once(init_, [this] {
    if (init_fn_) {
      call_user(source_, "init", init_fn_, static_cast<int>(device_count()));
    }
  });
  block.bytes = block.requested;
  void* const data = call_user(source_, "alloc", alloc_fn_, block.bytes, static_cast<int>(block.device), block.stream);
  if (data == nullptr) {
    orGetLastError();
    reason = c10::str(" The alloc function of the pluggable allocator (", source_, ") returned null.");
    return nullptr;
  }
  check_memory(data, block);
  const std::lock_guard<std::mutex> lock(mutex_);
  TORCH_CHECK(blocks_.count(data) == 0, "openreg: the alloc function of the pluggable allocator (", source_, ") returned ", data, ", which is still in use");
  return data;
}

// A kernel that gets host memory, or another device's, fails far from here and long after.
void PluggableAllocator::check_memory(void* data, const Block& block) {
  orPointerAttributes attributes{};
  if (orPointerGetAttributes(&attributes, data) != orSuccess) {
    orGetLastError();  // a port that does not know
    return;
  }
  if (attributes.type == orMemoryTypeDevice && attributes.device == block.device) {
    return;
  }
  give_back(data, block);
  TORCH_CHECK(
      attributes.type == orMemoryTypeDevice, "openreg: the alloc function of the pluggable allocator (", source_, ") returned ", data, ", which isn't memory of a device");
  TORCH_CHECK(
      false, "openreg: the alloc function of the pluggable allocator (", source_, ") returned memory of device ", attributes.device, " instead of ", static_cast<int>(block.device));
}

// Runs in deleters, at any time and on any thread: it warns and never throws.
bool PluggableAllocator::give_back(void* data, const Block& block) noexcept {
  never_throw("memory was freed", [&] {
    call_user(source_, "free", free_fn_, data, block.requested, static_cast<int>(block.device), block.stream);
  });
  return true;
}

void PluggableAllocator::emptyCache(c10::MempoolId_t mempool_id) {
  BlockAllocator::emptyCache(mempool_id);
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
  if (!device_stats_fn_) {
    return BlockAllocator::getDeviceStats(device);
  }
  DeviceStats stats;
  call_user(source_, "device_stats", device_stats_fn_, static_cast<int>(resolve_device_index(device)), &stats);
  return stats;
}

double PluggableAllocator::getMemoryFraction(c10::DeviceIndex device) {
  require(memory_fraction_fn_, source_, "set_memory_fraction_fn", "memory fractions");
  return BlockAllocator::getMemoryFraction(device);
}

void PluggableAllocator::setMemoryFraction(double fraction, c10::DeviceIndex device) {
  require(memory_fraction_fn_, source_, "set_memory_fraction_fn", "memory fractions");
  BlockAllocator::setMemoryFraction(fraction, device);
  call_user(source_, "memory_fraction", memory_fraction_fn_, fraction, static_cast<int>(resolve_device_index(device)));
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
  return BlockAllocator::getBaseAllocation(ptr, size);
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

void changeCurrentAllocator(std::shared_ptr<OpenRegAllocator> allocator) {
  static std::mutex mutex;
  static auto* const kept = new std::shared_ptr<OpenRegAllocator>();  // never destroyed: tensors may outlive main()
  TORCH_CHECK(allocator != nullptr, "openreg: change_current_allocator() needs an allocator");
  const std::lock_guard<std::mutex> lock(mutex);
  TORCH_CHECK(
      !is_initialized(),
      "Can't swap an already initialized allocator: openreg was used before. "
      "Call change_current_allocator() before the first tensor or stream is made.");
  c10::SetAllocator(c10::DeviceType::PrivateUse1, allocator.get(), kAllocatorPriority);
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
