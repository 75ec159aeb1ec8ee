// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <sys/mman.h>

#include <map>
#include <mutex>
#include <set>

#include "device.h"
#include "error.h"
#include "stream.h"

// Memory of the simulated device is where its address is, so memory without an address is a promise: MemCreate counts it,
// and MemMap makes pages of a reserved range accessible that were not.

using namespace openreg::driver;

struct orMemHandle {
  int device;
  size_t size;
  char* mapped_at = nullptr;
  bool released = false;
};

namespace {

constexpr size_t kGranularity = Heap::kGranularity;

bool is_unit(size_t size) { return size > 0 && size % kGranularity == 0; }
bool is_unit(const void* pointer) { return reinterpret_cast<size_t>(pointer) % kGranularity == 0; }

/// All memory that was created. One lock: these calls are rare.
struct Memories {
  std::mutex mutex;
  std::set<orMemHandle_t> handles;
  std::map<char*, orMemHandle_t> mapped;  // by address

  static Memories& get() {
    static auto* const memories = new Memories;  // callers may outlive main()
    return *memories;
  }
};

void give_back(orMemHandle_t handle) {
  Devices::get().at(handle->device).give(handle->size);
  delete handle;
}

}  // namespace

extern "C" {

orError_t orMemGetAllocationGranularity(size_t* granularity) {
  return describe([&] {
    if (granularity == nullptr) return orErrorInvalidValue;
    *granularity = kGranularity;
    return orSuccess;
  });
}

orError_t orMemAddressReserve(void** pointer, size_t size) {
  return call([&] {
    if (pointer == nullptr || !is_unit(size)) return orErrorInvalidValue;
    *pointer = current_device().reserve(size);
    return *pointer == nullptr ? orErrorMemoryAllocation : orSuccess;
  });
}

orError_t orMemAddressFree(void* pointer, size_t size) {
  return call([&] {
    Devices& devices = Devices::get();
    const int number = devices.device_of(pointer);
    if (number < 0 || !devices.at(number).unreserve(pointer, size)) return orErrorInvalidValue;
    return orSuccess;
  });
}

orError_t orMemCreate(orMemHandle_t* handle, size_t size) {
  return call([&] {
    if (handle == nullptr || !is_unit(size)) return orErrorInvalidValue;
    *handle = nullptr;
    Device& device = current_device();
    if (!device.take(size)) return orErrorMemoryAllocation;
    Memories& memories = Memories::get();
    std::lock_guard lock(memories.mutex);
    *handle = new orMemHandle{device.number(), size};
    memories.handles.insert(*handle);
    return orSuccess;
  });
}

orError_t orMemRelease(orMemHandle_t handle) {
  return call([&] {
    Memories& memories = Memories::get();
    std::lock_guard lock(memories.mutex);
    if (memories.handles.erase(handle) == 0) return orErrorInvalidHandle;
    handle->released = true;
    if (handle->mapped_at == nullptr) give_back(handle);
    return orSuccess;
  });
}

orError_t orMemMap(void* pointer, size_t size, orMemHandle_t handle) {
  return call([&] {
    Memories& memories = Memories::get();
    std::lock_guard lock(memories.mutex);
    if (memories.handles.count(handle) == 0) return orErrorInvalidHandle;
    Devices& devices = Devices::get();
    const bool fits = is_unit(pointer) && size == handle->size && devices.device_of(pointer) == handle->device;
    if (!fits || handle->mapped_at != nullptr || !devices.at(handle->device).map(pointer, size)) {
      return orErrorInvalidValue;
    }
    handle->mapped_at = static_cast<char*>(pointer);
    memories.mapped.emplace(handle->mapped_at, handle);
    return orSuccess;
  });
}

orError_t orMemUnmap(void* pointer, size_t size) {
  return call([&] {
    if (Stream::current() != nullptr) return orErrorNotSupported;
    Devices& devices = Devices::get();
    devices.wait();
    Memories& memories = Memories::get();
    std::lock_guard lock(memories.mutex);
    auto next = memories.mapped.find(static_cast<char*>(pointer));
    size_t covered = 0;
    for (auto at = next; at != memories.mapped.end() && covered < size; ++at) {
      if (at->first != static_cast<char*>(pointer) + covered) break;
      covered += at->second->size;
    }
    if (size == 0 || covered != size) return orErrorInvalidValue;
    Device& device = devices.at(next->second->device);
    if (!device.unmap(pointer, size)) return orErrorInvalidValue;
    while (covered > 0) {
      orMemHandle_t handle = next->second;
      next = memories.mapped.erase(next);
      covered -= handle->size;
      handle->mapped_at = nullptr;
      if (handle->released) give_back(handle);
    }
    return orSuccess;
  });
}

}  // extern "C"
