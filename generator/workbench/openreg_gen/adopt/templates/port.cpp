// Written by `openreg-gen new --from`.
// Owned: yours to edit; openreg-gen never writes it again.
// Move or rename it as you like; it is found by this mark: [openreg-gen third_party/port/port.cpp]
#include "port_support.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "old_runtime.h"

// Note [The old runtime behind the port]
// Each function calls the old backend's allocator, guard or copy through the table of old_runtime.h. Replace them by calls of your
// driver, one at a time: docs/porting.md says what each must do, and `pytest tests/test_bringup_*.py` tests it. When none is
// left, delete old_runtime.h and csrc/adopted/OldRuntime.cpp.

using namespace @NAME@::driver;

namespace {

constexpr size_t kMemory = size_t{1} << 30;  // per device: set it. No interface of the old backend says it
constexpr size_t kAlignment = 256;

const OldRuntime* old = nullptr;

const OldRuntime& runtime() {
  if (old == nullptr) throw Failure(@NAME@ErrorNotSupported, "the old runtime comes with libtorch_@NAME@.so, which is not loaded");
  driver_starts(nullptr);
  return *old;
}

int current() { return runtime().device(); }

struct Block {
  char* base;
  size_t size;
  int device;  // -1: memory of the host
  std::shared_ptr<void> memory;
};

auto& blocks = *new AllocationTable<Block>;
std::atomic<size_t> used[64];

int device_of(const void* pointer) {
  const auto block = blocks.find(pointer);
  return block ? block->device : -1;
}

void copy(void* to, const void* from, size_t size) {
  if (size == 0) return;
  const int to_device = device_of(to), from_device = device_of(from);
  if (to_device < 0 && from_device < 0)
    std::memmove(to, from, size);
  else
    runtime().copy(to, to_device, from, from_device, size);
}

struct Stream {
  int device;
  int priority;
  OldStream stream;
};

struct Event {
  OldEvent event;
  bool timed;
  std::atomic<bool> recorded{false};
};

auto& streams = *new HandleTable<Stream, @NAME@Stream_t>;
auto& events = *new HandleTable<Event, @NAME@Event_t>;

std::shared_ptr<Stream> stream_of(@NAME@Stream_t handle) {
  if (handle == nullptr) return std::make_shared<Stream>(current(), 0, runtime().default_stream(current()));
  auto stream = streams.find(handle);
  if (stream == nullptr) throw Failure(@NAME@ErrorInvalidHandle, "no such stream");
  return stream;
}

std::shared_ptr<Event> event_of(@NAME@Event_t handle) {
  auto event = events.find(handle);
  if (event == nullptr) throw Failure(@NAME@ErrorInvalidHandle, "no such event");
  return event;
}

@NAME@Error_t free_block(void* pointer, bool host) {
  if (pointer == nullptr) return @NAME@Success;
  const auto block = blocks.take(pointer, [&](const Block& found) { return (found.device < 0) == host; });
  if (!block) return @NAME@ErrorInvalidValue;
  if (!host) {
    runtime().synchronize_device(block->device);
    used[block->device] -= block->size;
  }
  return @NAME@Success;
}

}  // namespace

extern "C" {

void @NAME@UseOldRuntime(const OldRuntime* runtime) { old = runtime; }

// --- Rung 1: import and device count. tests/test_bringup_1_import.py

@NAME@Error_t @NAME@GetDeviceCount(int* count) {
  return describe([&] {
    if (count == nullptr) return @NAME@ErrorInvalidValue;
    *count = 0;
    *count = old == nullptr ? 0 : old->device_count();
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@GetDevice(int* device) {
  return describe([&] {
    *device = old == nullptr ? 0 : old->device();
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@SetDevice(int device) {
  return describe([&] {
    if (old == nullptr || device < 0 || device >= old->device_count()) return @NAME@ErrorInvalidDevice;
    old->set_device(device);
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@GetDeviceProperties(@NAME@DeviceProperties* properties, int device) {
  return describe([&] {
    if (old == nullptr || device < 0 || device >= old->device_count()) return @NAME@ErrorInvalidDevice;
    *properties = {"@NAME@", kMemory, 1, 1, 0, 0};
    return @NAME@Success;
  });
}

// --- Rung 2: allocate and copy. tests/test_bringup_2_memory.py

@NAME@Error_t @NAME@Malloc(void** pointer, size_t size) {
  return call([&] {
    *pointer = nullptr;
    if (size == 0) return @NAME@Success;
    const int device = current();
    if (size > kMemory || used[device].fetch_add(size) > kMemory - size) {
      if (size <= kMemory) used[device] -= size;
      return @NAME@ErrorMemoryAllocation;
    }
    auto memory = runtime().allocate(size + kAlignment);
    void* start = memory.get();
    size_t space = size + kAlignment;
    std::align(kAlignment, size, start, space);
    blocks.add({static_cast<char*>(start), size, device, std::move(memory)});
    *pointer = start;
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@Free(void* pointer) {
  return release([&] { return free_block(pointer, false); });
}

@NAME@Error_t @NAME@MemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    *free = kMemory - used[current()];
    *total = kMemory;
    return @NAME@Success;
  });
}

// The old copy has no stream of this API: everything that is queued comes first.
@NAME@Error_t @NAME@Memcpy(void* destination, const void* source, size_t size, @NAME@MemcpyKind) {
  return call_and_wait([&] {
    copy(destination, source, size);
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@MemcpyAsync(void* destination, const void* source, size_t size, @NAME@MemcpyKind, @NAME@Stream_t stream) {
  return call([&] {
    runtime().synchronize_stream(stream_of(stream)->stream);
    copy(destination, source, size);
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@Memset(void* pointer, int value, size_t size) {
  return call([&] {
    if (size > 0 && !blocks.find(pointer, size)) return @NAME@ErrorInvalidValue;
    const std::vector<char> bytes(size, static_cast<char>(value));
    copy(pointer, bytes.data(), size);
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@MemsetAsync(void* pointer, int value, size_t size, @NAME@Stream_t stream) {
  const @NAME@Error_t waited = call([&] {
    runtime().synchronize_stream(stream_of(stream)->stream);
    return @NAME@Success;
  });
  return waited == @NAME@Success ? @NAME@Memset(pointer, value, size) : waited;
}

@NAME@Error_t @NAME@StreamSynchronize(@NAME@Stream_t stream) {
  return call_and_wait([&] {
    runtime().synchronize_stream(stream_of(stream)->stream);
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@DeviceSynchronize(void) {
  return call_and_wait([] {
    runtime().synchronize_device(current());
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@MallocHost(void** pointer, size_t size) {
  return call([&] {
    *pointer = nullptr;
    if (size == 0) return @NAME@Success;
    if (size > kMemory) return @NAME@ErrorMemoryAllocation;
    const std::shared_ptr<void> memory(std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment), &std::free);
    if (memory == nullptr) return @NAME@ErrorMemoryAllocation;
    blocks.add({static_cast<char*>(memory.get()), size, -1, memory});
    *pointer = memory.get();
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@FreeHost(void* pointer) {
  return release([&] { return free_block(pointer, true); });
}

@NAME@Error_t @NAME@PointerGetAttributes(@NAME@PointerAttributes* attributes, const void* pointer) {
  return describe([&] {
    *attributes = {@NAME@MemoryTypeUnregistered, -1, nullptr, 0};
    const auto block = blocks.find(pointer);
    if (block)
      *attributes = {block->device < 0 ? @NAME@MemoryTypeHost : @NAME@MemoryTypeDevice, block->device, block->base, block->size};
    return @NAME@Success;
  });
}

// --- Rung 3: streams and events. tests/test_bringup_3_streams.py

@NAME@Error_t @NAME@DeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return @NAME@Success;
}

@NAME@Error_t @NAME@StreamCreate(@NAME@Stream_t* stream) { return @NAME@StreamCreateWithPriority(stream, 0); }

@NAME@Error_t @NAME@StreamCreateWithPriority(@NAME@Stream_t* stream, int) {
  return call([&] {
    *stream = streams.add(std::make_shared<Stream>(current(), 0, runtime().new_stream(current(), 0)));
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@StreamDestroy(@NAME@Stream_t stream) {
  return release([&] { return streams.remove(stream) == nullptr ? @NAME@ErrorInvalidHandle : @NAME@Success; });
}

@NAME@Error_t @NAME@StreamQuery(@NAME@Stream_t stream) {
  return call([&] { return runtime().query_stream(stream_of(stream)->stream) ? @NAME@Success : @NAME@ErrorNotReady; });
}

@NAME@Error_t @NAME@StreamGetPriority(@NAME@Stream_t stream, int* priority) {
  return call([&] {
    *priority = stream_of(stream)->priority;
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@StreamGetDevice(@NAME@Stream_t stream, int* device) {
  return call([&] {
    *device = stream_of(stream)->device;
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@EventCreate(@NAME@Event_t* event) { return @NAME@EventCreateWithFlags(event, @NAME@EventDefault); }

@NAME@Error_t @NAME@EventCreateWithFlags(@NAME@Event_t* event, unsigned int flags) {
  return call([&] {
    const bool timed = (flags & @NAME@EventDisableTiming) == 0;
    *event = events.add(std::make_shared<Event>(runtime().new_event(current(), timed), timed));
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@EventDestroy(@NAME@Event_t event) {
  return release([&] { return events.remove(event) == nullptr ? @NAME@ErrorInvalidHandle : @NAME@Success; });
}

@NAME@Error_t @NAME@EventRecord(@NAME@Event_t event, @NAME@Stream_t stream) {
  return call([&] {
    const auto found = event_of(event);
    runtime().record(found->event, stream_of(stream)->stream);
    found->recorded = true;
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@EventSynchronize(@NAME@Event_t event) {
  return call_and_wait([&] {
    runtime().synchronize_event(event_of(event)->event);
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@EventQuery(@NAME@Event_t event) {
  return call([&] { return runtime().query_event(event_of(event)->event) ? @NAME@Success : @NAME@ErrorNotReady; });
}

@NAME@Error_t @NAME@EventElapsedTime(float* milliseconds, @NAME@Event_t start, @NAME@Event_t end) {
  return call([&] {
    const auto first = event_of(start), second = event_of(end);
    if (!first->timed || !second->timed || !first->recorded || !second->recorded) return @NAME@ErrorInvalidHandle;
    *milliseconds = static_cast<float>(runtime().elapsed(first->event, second->event));
    return @NAME@Success;
  });
}

@NAME@Error_t @NAME@StreamWaitEvent(@NAME@Stream_t stream, @NAME@Event_t event) {
  return call([&] {
    runtime().block(event_of(event)->event, stream_of(stream)->stream);
    return @NAME@Success;
  });
}

}  // extern "C"
