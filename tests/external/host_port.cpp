// A port of the device API to plain host memory, for backend `porttest`: every stream does its work at once, on the
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

using porttest::driver::remember;

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

porttestError_t allocate(void** pointer, size_t size, int device) {
  if (pointer == nullptr) return porttestErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return porttestSuccess;
  std::lock_guard lock(mutex);
  if (device >= 0 && size > kMemory - used[device]) return porttestErrorMemoryAllocation;
  *pointer = size > kMemory ? nullptr : std::aligned_alloc(256, (size + 255) / 256 * 256);
  if (*pointer == nullptr) return porttestErrorMemoryAllocation;
  blocks[address(*pointer)] = {size, device};
  if (device >= 0) used[device] += size;
  return porttestSuccess;
}

porttestError_t release(void* pointer, bool pinned) {
  if (pointer == nullptr) return porttestSuccess;
  std::lock_guard lock(mutex);
  const auto found = blocks.find(address(pointer));
  if (found == blocks.end() || (found->second.device < 0) != pinned) return porttestErrorInvalidValue;
  if (!pinned) used[found->second.device] -= found->second.size;
  blocks.erase(found);
  std::free(pointer);
  return porttestSuccess;
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

Stream* stream_of(porttestStream_t handle) { return reinterpret_cast<Stream*>(handle); }
Event* event_of(porttestEvent_t handle) { return reinterpret_cast<Event*>(handle); }

}  // namespace

extern "C" {

porttestError_t porttestGetDeviceCount(int* count) {
  *count = kDevices;
  return porttestSuccess;
}

porttestError_t porttestGetDevice(int* device) {
  *device = current;
  return porttestSuccess;
}

porttestError_t porttestSetDevice(int device) {
  if (device < 0 || device >= kDevices) return remember(porttestErrorInvalidDevice);
  current = device;
  return porttestSuccess;
}

porttestError_t porttestGetDeviceProperties(porttestDeviceProperties* properties, int device) {
  if (device < 0 || device >= kDevices) return remember(porttestErrorInvalidDevice);
  *properties = {"host memory", kMemory, 1, 1, 0, 1};
  return porttestSuccess;
}

porttestError_t porttestMalloc(void** pointer, size_t size) { return remember(allocate(pointer, size, current)); }
porttestError_t porttestFree(void* pointer) { return remember(release(pointer, false)); }
porttestError_t porttestMallocHost(void** pointer, size_t size) { return remember(allocate(pointer, size, -1)); }
porttestError_t porttestFreeHost(void* pointer) { return remember(release(pointer, true)); }

porttestError_t porttestMemGetInfo(size_t* free, size_t* total) {
  std::lock_guard lock(mutex);
  *free = kMemory - used[current];
  *total = kMemory;
  return porttestSuccess;
}

porttestError_t porttestPointerGetAttributes(porttestPointerAttributes* attributes, const void* pointer) {
  *attributes = {porttestMemoryTypeUnregistered, -1, nullptr, 0};
  std::lock_guard lock(mutex);
  const auto after = blocks.upper_bound(address(pointer));
  if (after == blocks.begin()) return porttestSuccess;
  const auto& [base, block] = *std::prev(after);
  if (address(pointer) >= base + block.size) return porttestSuccess;
  const auto type = block.device < 0 ? porttestMemoryTypeHost : porttestMemoryTypeDevice;
  *attributes = {type, block.device, base, block.size};
  return porttestSuccess;
}

porttestError_t porttestMemcpy(void* destination, const void* source, size_t size, porttestMemcpyKind) {
  std::memmove(destination, source, size);
  return porttestSuccess;
}

porttestError_t porttestMemcpyAsync(
    void* destination, const void* source, size_t size, porttestMemcpyKind kind, porttestStream_t) {
  return porttestMemcpy(destination, source, size, kind);
}

porttestError_t porttestMemset(void* pointer, int value, size_t size) {
  std::memset(pointer, value, size);
  return porttestSuccess;
}

porttestError_t porttestMemsetAsync(void* pointer, int value, size_t size, porttestStream_t) {
  return porttestMemset(pointer, value, size);
}

porttestError_t porttestStreamSynchronize(porttestStream_t) { return porttestSuccess; }
porttestError_t porttestStreamQuery(porttestStream_t) { return porttestSuccess; }
porttestError_t porttestDeviceSynchronize(void) { return porttestSuccess; }

porttestError_t porttestDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return porttestSuccess;
}

porttestError_t porttestStreamCreate(porttestStream_t* stream) { return porttestStreamCreateWithPriority(stream, 0); }

porttestError_t porttestStreamCreateWithPriority(porttestStream_t* stream, int priority) {
  *stream = reinterpret_cast<porttestStream_t>(new Stream{current, std::clamp(priority, -1, 0)});
  return porttestSuccess;
}

porttestError_t porttestStreamDestroy(porttestStream_t stream) {
  delete stream_of(stream);
  return porttestSuccess;
}

porttestError_t porttestStreamGetPriority(porttestStream_t stream, int* priority) {
  *priority = stream == nullptr ? 0 : stream_of(stream)->priority;
  return porttestSuccess;
}

porttestError_t porttestStreamGetDevice(porttestStream_t stream, int* device) {
  *device = stream == nullptr ? current : stream_of(stream)->device;
  return porttestSuccess;
}

porttestError_t porttestStreamWaitEvent(porttestStream_t, porttestEvent_t) { return porttestSuccess; }

porttestError_t porttestEventCreate(porttestEvent_t* event) {
  return porttestEventCreateWithFlags(event, porttestEventDefault);
}

porttestError_t porttestEventCreateWithFlags(porttestEvent_t* event, unsigned int flags) {
  auto* made = new Event;
  made->timed = (flags & porttestEventDisableTiming) == 0;
  *event = reinterpret_cast<porttestEvent_t>(made);
  return porttestSuccess;
}

porttestError_t porttestEventDestroy(porttestEvent_t event) {
  delete event_of(event);
  return porttestSuccess;
}

porttestError_t porttestEventRecord(porttestEvent_t event, porttestStream_t) {
  event_of(event)->time = Clock::now();
  event_of(event)->recorded = true;
  return porttestSuccess;
}

porttestError_t porttestEventSynchronize(porttestEvent_t) { return porttestSuccess; }
porttestError_t porttestEventQuery(porttestEvent_t) { return porttestSuccess; }

porttestError_t porttestEventElapsedTime(float* milliseconds, porttestEvent_t start, porttestEvent_t end) {
  const Event* first = event_of(start);
  const Event* second = event_of(end);
  if (!first->timed || !second->timed || !first->recorded || !second->recorded) {
    return remember(porttestErrorInvalidHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(second->time - first->time).count();
  return porttestSuccess;
}

porttestError_t porttestLaunchKernel(porttestStream_t, void (*function)(void*), void* argument) {
  function(argument);
  return porttestSuccess;
}

}  // extern "C"
