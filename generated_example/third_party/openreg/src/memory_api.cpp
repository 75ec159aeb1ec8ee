// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <cstdlib>

#include "device.h"
#include "error.h"
#include "host_memory.h"
#include "memory_debug.h"
#include "stream.h"

using namespace openreg::driver;

namespace {

void describe_pointer(orPointerAttributes& attributes, orMemoryType type, int device, void* base, size_t size) {
  attributes.type = type;
  attributes.device = device;
  attributes.base = base;
  attributes.size = size;
}

}  // namespace

extern "C" {

orError_t orMalloc(void** pointer, size_t size) {
  return call([&] {
    if (pointer == nullptr) return orErrorInvalidValue;
    *pointer = nullptr;
    Device& device = current_device();
    if (size == 0) return orSuccess;
    *pointer = device.allocate(size);
    if (*pointer == nullptr && Stream::current() == nullptr) {
      // What was freed on streams comes back when the device is done.
      device.wait();
      *pointer = device.allocate(size);
    }
    return *pointer == nullptr ? orErrorMemoryAllocation : orSuccess;
  });
}

orError_t orFree(void* pointer) {
  return call([&] {
    if (pointer == nullptr) return orSuccess;
    Devices& devices = Devices::get();
    const int number = devices.device_of(pointer);
    Allocation allocation{};
    if (number < 0) return orErrorInvalidValue;
    Device& device = devices.at(number);
    if (!device.retire(pointer, &allocation)) {
      MemoryDebug* debug = MemoryDebug::get();
      if (debug != nullptr && debug->explain_free(pointer)) std::abort();
      return orErrorInvalidValue;
    }
    if (Stream::current() != nullptr) {
      device.release_later(allocation);
    } else {
      devices.wait();
      device.release(allocation);
    }
    return orSuccess;
  });
}

orError_t orMallocHost(void** pointer, size_t size) {
  return call([&] {
    if (pointer == nullptr) return orErrorInvalidValue;
    *pointer = nullptr;
    current_device();  // throws without devices
    if (size == 0) return orSuccess;
    *pointer = HostMemory::get().allocate(size);
    return *pointer == nullptr ? orErrorMemoryAllocation : orSuccess;
  });
}

orError_t orFreeHost(void* pointer) {
  return call([&] {
    if (pointer == nullptr) return orSuccess;
    if (!HostMemory::get().owns(pointer)) return orErrorInvalidValue;
    if (Stream::current() != nullptr) return orErrorNotSupported;
    Devices::get().wait();
    return HostMemory::get().free(pointer) ? orSuccess : orErrorInvalidValue;
  });
}

orError_t orPointerGetAttributes(orPointerAttributes* attributes, const void* pointer) {
  return call([&] {
    if (attributes == nullptr) return orErrorInvalidValue;
    describe_pointer(*attributes, orMemoryTypeUnregistered, -1, nullptr, 0);
    // Before the first use there is no memory, and asking doesn't count as a use.
    Devices* devices = Devices::if_used();
    if (devices == nullptr) return orSuccess;
    Allocation allocation{};
    HostMemory::Block block{};
    const int number = devices->device_of(pointer);
    if (number >= 0 && devices->at(number).heap().find(pointer, &allocation)) {
      describe_pointer(*attributes, orMemoryTypeDevice, number, allocation.base, allocation.size);
    } else if (number < 0 && HostMemory::get().find(pointer, &block)) {
      describe_pointer(*attributes, orMemoryTypeHost, -1, block.base, block.size);
    }
    return orSuccess;
  });
}

}  // extern "C"
