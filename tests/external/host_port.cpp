// A port of the device API to plain host memory, for backend `mybackend`: every stream does its work at once, on the
// thread that asks. The least that climbs the whole bring-up ladder; tests/test_external.py puts it into a fresh tree.
#include "port_support.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

using mybackend::driver::remember;

namespace {

constexpr int kDevices = 2;
constexpr size_t kMemory = size_t{512} << 20;
thread_local int current = 0;

struct Block {
  size_t size;
  int device;  // -1: pinned
};

// All memory that was handed out, by its start.
std::mutex mutex;
std::map<char*, Block>& blocks = *new std::map<char*, Block>;
size_t used[kDevices] = {};

char* address(const void* pointer) { return static_cast<char*>(const_cast<void*>(pointer)); }

mybackendError_t allocate(void** pointer, size_t size, int device) {
  if (pointer == nullptr) return mybackendErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return mybackendSuccess;
  std::lock_guard lock(mutex);
  if (device >= 0 && size > kMemory - used[device]) return mybackendErrorMemoryAllocation;
  *pointer = size > kMemory ? nullptr : std::aligned_alloc(256, (size + 255) / 256 * 256);
  if (*pointer == nullptr) return mybackendErrorMemoryAllocation;
  blocks[address(*pointer)] = {size, device};
  if (device >= 0) used[device] += size;
  return mybackendSuccess;
}

mybackendError_t release(void* pointer, bool pinned) {
  if (pointer == nullptr) return mybackendSuccess;
  std::lock_guard lock(mutex);
  const auto found = blocks.find(address(pointer));
  if (found == blocks.end() || (found->second.device < 0) != pinned) return mybackendErrorInvalidValue;
  if (!pinned) used[found->second.device] -= found->second.size;
  blocks.erase(found);
  std::free(pointer);
  return mybackendSuccess;
}

using Clock = std::chrono::steady_clock;

struct Stream {
  int device;
  int priority;
};

struct Event {
  std::atomic<bool> recorded{false};
  bool timed;
  Clock::time_point time;
};

Stream* stream_of(mybackendStream_t handle) { return reinterpret_cast<Stream*>(handle); }
Event* event_of(mybackendEvent_t handle) { return reinterpret_cast<Event*>(handle); }

}  // namespace

extern "C" {

mybackendError_t mybackendGetDeviceCount(int* count) {
  *count = kDevices;
  return mybackendSuccess;
}

mybackendError_t mybackendGetDevice(int* device) {
  *device = current;
  return mybackendSuccess;
}

mybackendError_t mybackendSetDevice(int device) {
  if (device < 0 || device >= kDevices) return remember(mybackendErrorInvalidDevice);
  current = device;
  return mybackendSuccess;
}

mybackendError_t mybackendGetDeviceProperties(mybackendDeviceProperties* properties, int device) {
  if (device < 0 || device >= kDevices) return remember(mybackendErrorInvalidDevice);
  *properties = {"host memory", kMemory, 1, 1, 0, 1};
  return mybackendSuccess;
}

mybackendError_t mybackendMalloc(void** pointer, size_t size) { return remember(allocate(pointer, size, current)); }
mybackendError_t mybackendFree(void* pointer) { return remember(release(pointer, false)); }
mybackendError_t mybackendMallocHost(void** pointer, size_t size) { return remember(allocate(pointer, size, -1)); }
mybackendError_t mybackendFreeHost(void* pointer) { return remember(release(pointer, true)); }

mybackendError_t mybackendMemGetInfo(size_t* free, size_t* total) {
  std::lock_guard lock(mutex);
  *free = kMemory - used[current];
  *total = kMemory;
  return mybackendSuccess;
}

mybackendError_t mybackendPointerGetAttributes(mybackendPointerAttributes* attributes, const void* pointer) {
  *attributes = {mybackendMemoryTypeUnregistered, -1, nullptr, 0};
  std::lock_guard lock(mutex);
  const auto after = blocks.upper_bound(address(pointer));
  if (after == blocks.begin()) return mybackendSuccess;
  const auto& [base, block] = *std::prev(after);
  if (address(pointer) >= base + block.size) return mybackendSuccess;
  const auto type = block.device < 0 ? mybackendMemoryTypeHost : mybackendMemoryTypeDevice;
  *attributes = {type, block.device, base, block.size};
  return mybackendSuccess;
}

mybackendError_t mybackendMemcpy(void* destination, const void* source, size_t size, mybackendMemcpyKind) {
  std::memmove(destination, source, size);
  return mybackendSuccess;
}

mybackendError_t mybackendMemcpyAsync(
    void* destination, const void* source, size_t size, mybackendMemcpyKind kind, mybackendStream_t) {
  return mybackendMemcpy(destination, source, size, kind);
}

mybackendError_t mybackendMemset(void* pointer, int value, size_t size) {
  std::memset(pointer, value, size);
  return mybackendSuccess;
}

mybackendError_t mybackendMemsetAsync(void* pointer, int value, size_t size, mybackendStream_t) {
  return mybackendMemset(pointer, value, size);
}

mybackendError_t mybackendStreamSynchronize(mybackendStream_t) { return mybackendSuccess; }
mybackendError_t mybackendStreamQuery(mybackendStream_t) { return mybackendSuccess; }
mybackendError_t mybackendDeviceSynchronize(void) { return mybackendSuccess; }

mybackendError_t mybackendDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return mybackendSuccess;
}

mybackendError_t mybackendStreamCreate(mybackendStream_t* stream) { return mybackendStreamCreateWithPriority(stream, 0); }

mybackendError_t mybackendStreamCreateWithPriority(mybackendStream_t* stream, int priority) {
  *stream = reinterpret_cast<mybackendStream_t>(new Stream{current, std::clamp(priority, -1, 0)});
  return mybackendSuccess;
}

mybackendError_t mybackendStreamDestroy(mybackendStream_t stream) {
  delete stream_of(stream);
  return mybackendSuccess;
}

mybackendError_t mybackendStreamGetPriority(mybackendStream_t stream, int* priority) {
  *priority = stream == nullptr ? 0 : stream_of(stream)->priority;
  return mybackendSuccess;
}

mybackendError_t mybackendStreamGetDevice(mybackendStream_t stream, int* device) {
  *device = stream == nullptr ? current : stream_of(stream)->device;
  return mybackendSuccess;
}

mybackendError_t mybackendStreamWaitEvent(mybackendStream_t, mybackendEvent_t) { return mybackendSuccess; }

mybackendError_t mybackendEventCreate(mybackendEvent_t* event) {
  return mybackendEventCreateWithFlags(event, mybackendEventDefault);
}

mybackendError_t mybackendEventCreateWithFlags(mybackendEvent_t* event, unsigned int flags) {
  auto* made = new Event;
  made->timed = (flags & mybackendEventDisableTiming) == 0;
  *event = reinterpret_cast<mybackendEvent_t>(made);
  return mybackendSuccess;
}

mybackendError_t mybackendEventDestroy(mybackendEvent_t event) {
  delete event_of(event);
  return mybackendSuccess;
}

mybackendError_t mybackendEventRecord(mybackendEvent_t event, mybackendStream_t) {
  event_of(event)->time = Clock::now();
  event_of(event)->recorded = true;
  return mybackendSuccess;
}

mybackendError_t mybackendEventSynchronize(mybackendEvent_t) { return mybackendSuccess; }
mybackendError_t mybackendEventQuery(mybackendEvent_t) { return mybackendSuccess; }

mybackendError_t mybackendEventElapsedTime(float* milliseconds, mybackendEvent_t start, mybackendEvent_t end) {
  const Event* first = event_of(start);
  const Event* second = event_of(end);
  if (!first->timed || !second->timed || !first->recorded || !second->recorded) {
    return remember(mybackendErrorInvalidHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(second->time - first->time).count();
  return mybackendSuccess;
}

mybackendError_t mybackendLaunchKernel(mybackendStream_t, void (*function)(void*), void* argument) {
  function(argument);
  return mybackendSuccess;
}

}  // extern "C"
