// A port of the device API to plain host memory, for backend `mybackend`: every stream does its work at once. The least
// that climbs the whole bring-up ladder, by the helpers of port_support.h; tests/test_external.py puts it into a fresh
// tree.
#include "port_support.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <string>

using namespace mybackend::driver;

namespace {

constexpr int kDevices = 2;
constexpr size_t kMemory = size_t{512} << 20;
thread_local int current = 0;

struct Block {
  char* base;
  size_t size;
  int device;  // -1: pinned
};

auto& blocks = *new AllocationTable<Block>;
std::atomic<size_t> used[kDevices];

void* allocate(size_t size, int device) {
  driver_starts(nullptr);
  if (size == 0) return nullptr;
  if (size > kMemory || (device >= 0 && used[device].fetch_add(size) > kMemory - size)) {
    if (size <= kMemory) used[device] -= size;
    throw Failure(mybackendErrorMemoryAllocation, "the host lends no " + std::to_string(size) + " bytes");
  }
  auto* const base = static_cast<char*>(std::aligned_alloc(256, (size + 255) / 256 * 256));
  blocks.add({base, size, device});
  return base;
}

mybackendError_t free_block(void* pointer, bool pinned) {
  if (pointer == nullptr) return mybackendSuccess;
  const auto block = blocks.take(pointer, [&](const Block& found) { return (found.device < 0) == pinned; });
  if (!block) return mybackendErrorInvalidValue;
  if (!pinned) used[block->device] -= block->size;
  std::free(pointer);
  return mybackendSuccess;
}

// Pageable memory is copied by way of pinned memory, as drivers do that cannot reach it.
void copy(void* destination, const void* source, size_t size, mybackendMemcpyKind kind) {
  constexpr size_t kPiece = 64 << 10;
  static auto& staging = *new Staging(new char[2 * kPiece], kPiece);
  const auto wait = [](int) {};
  if (kind == mybackendMemcpyHostToDevice && !blocks.find(source)) {
    staging.to_device(
        source, size,
        [&](const char* piece, size_t offset, size_t bytes, int) {
          std::memcpy(static_cast<char*>(destination) + offset, piece, bytes);
        },
        wait);
  } else if (kind == mybackendMemcpyDeviceToHost && !blocks.find(destination)) {
    staging.to_host(
        destination, size,
        [&](char* piece, size_t offset, size_t bytes, int) {
          std::memcpy(piece, static_cast<const char*>(source) + offset, bytes);
        },
        wait);
  } else {
    std::memmove(destination, source, size);
  }
}

using Clock = std::chrono::steady_clock;

struct Stream {
  int device;
  int priority;
};

struct Event {
  bool timed;
  std::atomic<bool> recorded{false};
  Clock::time_point time;
};

auto& streams = *new HandleTable<Stream, mybackendStream_t>;
auto& events = *new HandleTable<Event, mybackendEvent_t>;

std::shared_ptr<Stream> stream_of(mybackendStream_t handle) {
  auto stream = handle == nullptr ? std::make_shared<Stream>(current, 0) : streams.find(handle);
  if (stream == nullptr) throw Failure(mybackendErrorInvalidHandle, "no such stream");
  return stream;
}

std::shared_ptr<Event> event_of(mybackendEvent_t handle) {
  auto event = events.find(handle);
  if (event == nullptr) throw Failure(mybackendErrorInvalidHandle, "no such event");
  return event;
}

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

mybackendError_t mybackendMalloc(void** pointer, size_t size) {
  return call([&] {
    *pointer = nullptr;
    *pointer = allocate(size, current);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendMallocHost(void** pointer, size_t size) {
  return call([&] {
    *pointer = nullptr;
    *pointer = allocate(size, -1);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendFree(void* pointer) {
  return release([&] { return free_block(pointer, false); });
}

mybackendError_t mybackendFreeHost(void* pointer) {
  return release([&] { return free_block(pointer, true); });
}

mybackendError_t mybackendMemGetInfo(size_t* free, size_t* total) {
  *free = kMemory - used[current];
  *total = kMemory;
  return mybackendSuccess;
}

mybackendError_t mybackendPointerGetAttributes(mybackendPointerAttributes* attributes, const void* pointer) {
  return describe([&] {
    *attributes = {mybackendMemoryTypeUnregistered, -1, nullptr, 0};
    const auto block = blocks.find(pointer);
    if (block)
      *attributes = {block->device < 0 ? mybackendMemoryTypeHost : mybackendMemoryTypeDevice, block->device,
                     block->base, block->size};
    return mybackendSuccess;
  });
}

mybackendError_t mybackendMemcpy(void* destination, const void* source, size_t size, mybackendMemcpyKind kind) {
  return call_and_wait([&] {
    copy(destination, source, size, kind);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendMemcpyAsync(void* destination, const void* source, size_t size, mybackendMemcpyKind kind,
                                      mybackendStream_t stream) {
  return call([&] {
    stream_of(stream);
    copy(destination, source, size, kind);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendMemset(void* pointer, int value, size_t size) {
  return call([&] {
    if (size > 0 && !blocks.find(pointer, size)) return mybackendErrorInvalidValue;
    std::memset(pointer, value, size);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendMemsetAsync(void* pointer, int value, size_t size, mybackendStream_t) {
  return mybackendMemset(pointer, value, size);
}

mybackendError_t mybackendStreamSynchronize(mybackendStream_t stream) {
  return call_and_wait([&] {
    stream_of(stream);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendStreamQuery(mybackendStream_t stream) {
  return call([&] {
    stream_of(stream);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendDeviceSynchronize(void) {
  return call_and_wait([] { return mybackendSuccess; });
}

mybackendError_t mybackendDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return mybackendSuccess;
}

mybackendError_t mybackendStreamCreate(mybackendStream_t* stream) {
  return mybackendStreamCreateWithPriority(stream, 0);
}

mybackendError_t mybackendStreamCreateWithPriority(mybackendStream_t* stream, int priority) {
  return call([&] {
    *stream = streams.add(std::make_shared<Stream>(current, std::clamp(priority, -1, 0)));
    return mybackendSuccess;
  });
}

mybackendError_t mybackendStreamDestroy(mybackendStream_t stream) {
  return release([&] { return streams.remove(stream) == nullptr ? mybackendErrorInvalidHandle : mybackendSuccess; });
}

mybackendError_t mybackendStreamGetPriority(mybackendStream_t stream, int* priority) {
  return call([&] {
    *priority = stream_of(stream)->priority;
    return mybackendSuccess;
  });
}

mybackendError_t mybackendStreamGetDevice(mybackendStream_t stream, int* device) {
  return call([&] {
    *device = stream_of(stream)->device;
    return mybackendSuccess;
  });
}

mybackendError_t mybackendStreamWaitEvent(mybackendStream_t stream, mybackendEvent_t event) {
  return call([&] {
    stream_of(stream);
    event_of(event);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendEventCreate(mybackendEvent_t* event) {
  return mybackendEventCreateWithFlags(event, mybackendEventDefault);
}

mybackendError_t mybackendEventCreateWithFlags(mybackendEvent_t* event, unsigned int flags) {
  return call([&] {
    auto made = std::make_shared<Event>();
    made->timed = (flags & mybackendEventDisableTiming) == 0;
    *event = events.add(made);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendEventDestroy(mybackendEvent_t event) {
  return release([&] { return events.remove(event) == nullptr ? mybackendErrorInvalidHandle : mybackendSuccess; });
}

mybackendError_t mybackendEventRecord(mybackendEvent_t event, mybackendStream_t stream) {
  return call([&] {
    stream_of(stream);
    const auto found = event_of(event);
    found->time = Clock::now();
    found->recorded = true;
    return mybackendSuccess;
  });
}

mybackendError_t mybackendEventSynchronize(mybackendEvent_t event) {
  return call_and_wait([&] {
    event_of(event);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendEventQuery(mybackendEvent_t event) {
  return call([&] {
    event_of(event);
    return mybackendSuccess;
  });
}

mybackendError_t mybackendEventElapsedTime(float* milliseconds, mybackendEvent_t start, mybackendEvent_t end) {
  return call([&] {
    const auto first = event_of(start), second = event_of(end);
    if (!first->timed || !second->timed || !first->recorded || !second->recorded) return mybackendErrorInvalidHandle;
    *milliseconds = std::chrono::duration<float, std::milli>(second->time - first->time).count();
    return mybackendSuccess;
  });
}

// On a thread of its own, where the contract says that functions must not wait for the device; the caller waits.
mybackendError_t mybackendLaunchKernel(mybackendStream_t stream, void (*function)(void*), void* argument) {
  return call([&] {
    stream_of(stream);
    static thread_local HostThread thread;
    std::promise<void> done;
    thread.run([&] {
      function(argument);
      done.set_value();
    });
    done.get_future().wait();
    return mybackendSuccess;
  });
}

// Compiles nothing; what it says shows that it got the whole source.
mybackendError_t mybackendProgramBuild(mybackendProgram_t*, const char* name, const void* source, size_t size,
                                       const char*) {
  return call([&]() -> mybackendError_t {
    const std::string bytes(static_cast<const char*>(source), size);
    throw Failure(mybackendErrorInvalidValue, std::string(name) + ":1: " + std::to_string(bytes.size()) +
                                                  " bytes, the last is " + std::to_string(bytes.back()));
  });
}

}  // extern "C"
