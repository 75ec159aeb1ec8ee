// A port of the device API, for backend `mybackend`, that behaves like a discrete card. Tests put it into fresh trees,
// to find what only works where device memory is host memory and streams do everything at once:
//   memory    each device has its own, and its addresses fault when the host dereferences them
//   streams   are threads; a task starts late now and then, and copies take time
//   devices   share nothing: a copy between two goes through the host
//   counters  mybackendCardCount() tells how many copies of each kind there were
//   faults    mybackendCardFailMalloc() makes allocations fail, mybackendCardLose() loses a device
// It has none of the optional functions except Memcpy2DAsync.
#include "port_support.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

using mybackend::driver::remember;

namespace {

using Clock = std::chrono::steady_clock;
using Status = mybackendError_t;

constexpr int kDevices = 2;
constexpr size_t kMemory = size_t{1} << 30;
constexpr size_t kAlign = 256;

thread_local int current = 0;
thread_local bool on_stream_thread = false;
std::atomic<bool> used{false};
std::atomic<bool> forked{false};
std::atomic<int> failing_mallocs{0};
std::atomic<uint64_t>
    counts[8];  // by mybackendMemcpyKind; then Memset, kernels, bytes to the host, bytes to the device
enum { kMemsets = 4, kKernels, kBytesToHost, kBytesToDevice };

// --- Memory

/// The memory of one device. Its addresses are reserved without access; what the card sees lies elsewhere.
struct Arena {
  char* base;                      // what the host knows
  char* card;                      // the bytes
  std::map<char*, size_t> blocks;  // start, bytes asked for
  size_t used = 0;
  std::atomic<bool> lost{false};

  Arena() {
    base = static_cast<char*>(mmap(nullptr, kMemory, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    card = static_cast<char*>(
        mmap(nullptr, kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (base == MAP_FAILED || card == MAP_FAILED) std::abort();
  }
  bool holds(const void* pointer) const { return pointer >= base && pointer < base + kMemory; }
};

std::mutex& memory_mutex = *new std::mutex;
std::map<char*, size_t>& pinned = *new std::map<char*, size_t>;
std::vector<void*>& freed_on_streams = *new std::vector<void*>;

std::array<Arena, kDevices>& arenas() {
  static auto& all = *new std::array<Arena, kDevices>;
  return all;
}

char* address(const void* pointer) { return static_cast<char*>(const_cast<void*>(pointer)); }

size_t rounded(size_t size) { return (size + kAlign - 1) / kAlign * kAlign; }

int device_of(const void* pointer) {
  for (int device = 0; device < kDevices; ++device) {
    if (arenas()[device].holds(pointer)) return device;
  }
  return -1;
}

/// The allocation among `blocks` that holds all of a range; the end if none does.
template <class Blocks>
auto block_with(Blocks& blocks, const void* pointer, size_t size) {
  auto after = blocks.upper_bound(address(pointer));
  if (after == blocks.begin()) return blocks.end();
  --after;
  return address(pointer) + size <= after->first + after->second ? after : blocks.end();
}

/// Where the card finds a range of its memory; null if it isn't all in one allocation.
char* card_bytes(const void* pointer, size_t size) {
  const int device = device_of(pointer);
  if (device < 0) return nullptr;
  Arena& arena = arenas()[device];
  const std::lock_guard lock(memory_mutex);
  if (block_with(arena.blocks, pointer, size) == arena.blocks.end()) return nullptr;
  return arena.card + (address(pointer) - arena.base);
}

bool is_pinned(const void* pointer, size_t size) {
  const std::lock_guard lock(memory_mutex);
  return block_with(pinned, pointer, size) != pinned.end();
}

Status allocate(void** pointer, size_t size) {
  *pointer = nullptr;
  if (size == 0) return mybackendSuccess;
  Arena& arena = arenas()[current];
  const std::lock_guard lock(memory_mutex);
  if (failing_mallocs > 0 && failing_mallocs-- > 0) return mybackendErrorMemoryAllocation;
  if (size > kMemory - arena.used) return mybackendErrorMemoryAllocation;
  char* at = arena.base;
  for (const auto& [start, bytes] : arena.blocks) {
    if (at + rounded(size) <= start) break;
    at = start + rounded(bytes);
  }
  if (at + rounded(size) > arena.base + kMemory) return mybackendErrorMemoryAllocation;
  arena.blocks[at] = size;
  arena.used += rounded(size);
  *pointer = at;
  return mybackendSuccess;
}

Status release(void* pointer) {
  const int device = device_of(pointer);
  if (device < 0) return mybackendErrorInvalidValue;
  Arena& arena = arenas()[device];
  const std::lock_guard lock(memory_mutex);
  const auto found = arena.blocks.find(address(pointer));
  if (found == arena.blocks.end()) return mybackendErrorInvalidValue;
  arena.used -= rounded(found->second);
  std::memset(arena.card + (found->first - arena.base), 0xdb, found->second);  // shows who uses it still
  arena.blocks.erase(found);
  return mybackendSuccess;
}

// --- Streams and events

struct Mark {
  std::mutex mutex;
  std::condition_variable passed;
  bool done = false;
  Clock::time_point time;

  void pass() {
    const std::lock_guard lock(mutex);
    time = Clock::now();
    done = true;
    passed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    passed.wait(lock, [this] { return done; });
  }
  bool query() {
    const std::lock_guard lock(mutex);
    return done;
  }
};

struct Event {
  bool timed;
  std::mutex mutex;
  std::shared_ptr<Mark> latest;  // null: never recorded

  std::shared_ptr<Mark> mark() {
    const std::lock_guard lock(mutex);
    return latest;
  }
};

/// A thread that runs tasks in order. A started late task waits up to the jitter, in microseconds.
class Stream {
 public:
  Stream(int device, int priority) : device(device), priority(priority) {}

  void push(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    ++queued_;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, until = queued_] { return finished_ >= until; });
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return finished_ == queued_;
  }
  /// The thread ends, and with it the stream, when all that is queued has run.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  void run() {
    static const int jitter = [] {
      const char* text = std::getenv("MYBACKEND_CARD_JITTER");
      return text == nullptr ? 100 : std::atoi(text);
    }();
    on_stream_thread = true;
    std::minstd_rand random(static_cast<unsigned>(device) + 1);
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      if (jitter > 0 && random() % 4 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(jitter)));
      }
      task();
      lock.lock();
      ++finished_;
      changed_.notify_all();
    }
  }

  const int device;
  const int priority;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  uint64_t queued_ = 0;
  uint64_t finished_ = 0;
  bool closed_ = false;
};

std::mutex& handles_mutex = *new std::mutex;
std::map<Stream*, std::shared_ptr<Stream>>& handles = *new std::map<Stream*, std::shared_ptr<Stream>>;
std::set<std::shared_ptr<Stream>>& running = *new std::set<std::shared_ptr<Stream>>;
std::map<Event*, std::shared_ptr<Event>>& events = *new std::map<Event*, std::shared_ptr<Event>>;
std::array<std::shared_ptr<Stream>, kDevices>& defaults = *new std::array<std::shared_ptr<Stream>, kDevices>;

/// Starts the stream's thread. The lock of the handles must be held.
std::shared_ptr<Stream> start(int device, int priority) {
  auto stream = std::make_shared<Stream>(device, priority);
  running.insert(stream);
  std::thread([stream] {
    stream->run();
    const std::lock_guard lock(handles_mutex);
    running.erase(stream);
  }).detach();
  return stream;
}

std::shared_ptr<Stream> default_stream(int device) {
  const std::lock_guard lock(handles_mutex);
  if (defaults[device] == nullptr) defaults[device] = start(device, 0);
  return defaults[device];
}

/// Null for a handle that isn't one.
std::shared_ptr<Stream> stream_of(mybackendStream_t handle) {
  if (handle == nullptr) return default_stream(current);
  const std::lock_guard lock(handles_mutex);
  const auto found = handles.find(reinterpret_cast<Stream*>(handle));
  return found == handles.end() ? nullptr : found->second;
}

/// Shared, as another thread may destroy the handle meanwhile.
std::shared_ptr<Event> event_of(mybackendEvent_t handle) {
  const std::lock_guard lock(handles_mutex);
  const auto found = events.find(reinterpret_cast<Event*>(handle));
  return found == events.end() ? nullptr : found->second;
}

void wait_for(int device) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(handles_mutex);
    for (const auto& stream : running) {
      if (device < 0 || stream->device == device) streams.push_back(stream);
    }
  }
  for (const auto& stream : streams) stream->wait();
}

/// What each function that touches a device asks first.
Status ready(int device) {
  if (forked) return mybackendErrorForked;
  if (!used.exchange(true)) pthread_atfork(nullptr, nullptr, [] { forked = true; });
  return arenas()[device].lost ? mybackendErrorUnknown : mybackendSuccess;
}

Status may_wait(int device) {
  if (on_stream_thread) return mybackendErrorNotSupported;
  return ready(device);
}

/// Ready to use `stream`; then `*found` is it.
Status ready(mybackendStream_t stream, std::shared_ptr<Stream>* found) {
  if (const Status status = ready(current); status != mybackendSuccess) return status;
  *found = stream_of(stream);
  if (*found == nullptr) return mybackendErrorInvalidHandle;
  return ready((*found)->device);
}

// --- Copies

/// Rows of bytes, one behind the other after each `pitch`.
struct Rows {
  char* at;
  size_t pitch;
};

void move(Rows to, Rows from, size_t width, size_t height) {
  if (to.pitch == width && from.pitch == width) {
    width *= height;
    height = 1;
  }
  for (size_t row = 0; row < height; ++row) std::memmove(to.at + row * to.pitch, from.at + row * from.pitch, width);
}

Status copy(void* destination, size_t to_pitch, const void* source, size_t from_pitch, size_t width, size_t height,
            mybackendMemcpyKind kind, const std::shared_ptr<Stream>& stream, bool wait) {
  if (width == 0 || height == 0) return mybackendSuccess;
  if (to_pitch < width || from_pitch < width || kind < 0 || kind > 3) return mybackendErrorInvalidValue;
  const size_t to_span = (height - 1) * to_pitch + width;
  const size_t from_span = (height - 1) * from_pitch + width;
  const bool to_device = kind == mybackendMemcpyHostToDevice || kind == mybackendMemcpyDeviceToDevice;
  const bool from_device = kind == mybackendMemcpyDeviceToHost || kind == mybackendMemcpyDeviceToDevice;
  Rows to{to_device ? card_bytes(destination, to_span) : address(destination), to_pitch};
  Rows from{from_device ? card_bytes(source, from_span) : address(source), from_pitch};
  if (to.at == nullptr || from.at == nullptr) return mybackendErrorInvalidValue;
  if ((!to_device && device_of(destination) >= 0) || (!from_device && device_of(source) >= 0))
    return mybackendErrorInvalidValue;
  ++counts[kind];
  if (kind == mybackendMemcpyHostToDevice) counts[kBytesToDevice] += width * height;
  if (kind == mybackendMemcpyDeviceToHost) counts[kBytesToHost] += width * height;
  if (!from_device && !is_pinned(source, from_span)) {  // the caller may change pageable memory at once: it is staged
    auto staged = std::make_shared<std::vector<char>>(width * height);
    move({staged->data(), width}, from, width, height);
    stream->push([=] { move(to, {staged->data(), width}, width, height); });
  } else {
    stream->push([=] { move(to, from, width, height); });
    wait = wait || (!to_device && !is_pinned(destination, to_span));
  }
  if (wait) {
    if (on_stream_thread) return mybackendErrorNotSupported;
    stream->wait();
  }
  return mybackendSuccess;
}

Status set(void* pointer, int value, size_t size, const std::shared_ptr<Stream>& stream) {
  if (size == 0) return mybackendSuccess;
  char* const bytes = card_bytes(pointer, size);
  if (bytes == nullptr) return mybackendErrorInvalidValue;
  ++counts[kMemsets];
  stream->push([=] { std::memset(bytes, value, size); });
  return mybackendSuccess;
}

}  // namespace

extern "C" {

#define CARD_API __attribute__((visibility("default")))

/// Copies by mybackendMemcpyKind, then 4: memsets, 5: kernels, 6: bytes to the host, 7: bytes to the device, since it
/// was last called.
CARD_API uint64_t mybackendCardCount(int what) { return counts[what].exchange(0); }
/// The next `calls` allocations fail.
CARD_API void mybackendCardFailMalloc(int calls) { failing_mallocs = calls; }
/// From now on each call that needs the device fails; 0 brings it back.
CARD_API void mybackendCardLose(int device, int lost) { arenas()[device].lost = lost != 0; }

Status mybackendGetDeviceCount(int* count) {
  *count = kDevices;
  return mybackendSuccess;
}

Status mybackendGetDevice(int* device) {
  *device = current;
  return mybackendSuccess;
}

Status mybackendSetDevice(int device) {
  if (device < 0 || device >= kDevices) return remember(mybackendErrorInvalidDevice);
  current = device;
  return mybackendSuccess;
}

Status mybackendGetDeviceProperties(mybackendDeviceProperties* properties, int device) {
  if (device < 0 || device >= kDevices) return remember(mybackendErrorInvalidDevice);
  *properties = {"a card", kMemory, 1, 1, 0, 0};
  return mybackendSuccess;
}

Status mybackendMalloc(void** pointer, size_t size) {
  if (pointer == nullptr) return remember(mybackendErrorInvalidValue);
  const Status status = ready(current);
  return remember(status != mybackendSuccess ? status : allocate(pointer, size));
}

Status mybackendFree(void* pointer) {
  if (pointer == nullptr) return mybackendSuccess;
  if (forked) return remember(mybackendErrorForked);
  if (on_stream_thread) {
    const std::lock_guard lock(memory_mutex);
    freed_on_streams.push_back(pointer);
    return mybackendSuccess;
  }
  wait_for(-1);
  std::vector<void*> more;
  {
    const std::lock_guard lock(memory_mutex);
    more.swap(freed_on_streams);
  }
  for (void* other : more) release(other);
  return remember(release(pointer));
}

Status mybackendMemGetInfo(size_t* free, size_t* total) {
  if (const Status status = ready(current); status != mybackendSuccess) return remember(status);
  const std::lock_guard lock(memory_mutex);
  *free = kMemory - arenas()[current].used;
  *total = kMemory;
  return mybackendSuccess;
}

Status mybackendMallocHost(void** pointer, size_t size) {
  if (pointer == nullptr) return remember(mybackendErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return mybackendSuccess;
  if (const Status status = ready(current); status != mybackendSuccess) return remember(status);
  *pointer = size > kMemory ? nullptr : std::aligned_alloc(kAlign, rounded(size));
  if (*pointer == nullptr) return remember(mybackendErrorMemoryAllocation);
  const std::lock_guard lock(memory_mutex);
  pinned[address(*pointer)] = size;
  return mybackendSuccess;
}

Status mybackendFreeHost(void* pointer) {
  if (pointer == nullptr) return mybackendSuccess;
  if (const Status status = may_wait(current); status != mybackendSuccess) return remember(status);
  wait_for(-1);
  const std::lock_guard lock(memory_mutex);
  if (pinned.erase(address(pointer)) == 0) return remember(mybackendErrorInvalidValue);
  std::free(pointer);
  return mybackendSuccess;
}

Status mybackendPointerGetAttributes(mybackendPointerAttributes* attributes, const void* pointer) {
  *attributes = {mybackendMemoryTypeUnregistered, -1, nullptr, 0};
  const int device = device_of(pointer);
  const std::lock_guard lock(memory_mutex);
  const auto& blocks = device < 0 ? pinned : arenas()[device].blocks;
  const auto found = block_with(blocks, pointer, 1);
  if (found == blocks.end()) return mybackendSuccess;
  *attributes = {device < 0 ? mybackendMemoryTypeHost : mybackendMemoryTypeDevice, device, found->first, found->second};
  return mybackendSuccess;
}

Status mybackendMemcpy(void* destination, const void* source, size_t size, mybackendMemcpyKind kind) {
  const int to = device_of(destination);
  const int from = device_of(source);
  const int device = from >= 0 ? from : to >= 0 ? to : current;
  if (const Status status = may_wait(device); status != mybackendSuccess) return remember(status);
  if (from >= 0 && to >= 0 && from != to) default_stream(to)->wait();
  return remember(copy(destination, size, source, size, size, 1, kind, default_stream(device), true));
}

Status mybackendMemcpyAsync(void* destination, const void* source, size_t size, mybackendMemcpyKind kind,
                            mybackendStream_t handle) {
  std::shared_ptr<Stream> stream;
  if (const Status status = ready(handle, &stream); status != mybackendSuccess) return remember(status);
  return remember(copy(destination, size, source, size, size, 1, kind, stream, false));
}

Status mybackendMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                              size_t width, size_t height, mybackendMemcpyKind kind, mybackendStream_t handle) {
  std::shared_ptr<Stream> stream;
  if (const Status status = ready(handle, &stream); status != mybackendSuccess) return remember(status);
  return remember(copy(destination, destination_pitch, source, source_pitch, width, height, kind, stream, false));
}

Status mybackendMemset(void* pointer, int value, size_t size) {
  const int device = std::max(device_of(pointer), 0);
  if (const Status status = may_wait(device); status != mybackendSuccess) return remember(status);
  const Status status = set(pointer, value, size, default_stream(device));
  default_stream(device)->wait();
  return remember(status);
}

Status mybackendMemsetAsync(void* pointer, int value, size_t size, mybackendStream_t handle) {
  std::shared_ptr<Stream> stream;
  if (const Status status = ready(handle, &stream); status != mybackendSuccess) return remember(status);
  return remember(set(pointer, value, size, stream));
}

Status mybackendStreamSynchronize(mybackendStream_t handle) {
  std::shared_ptr<Stream> stream;
  if (on_stream_thread) return remember(mybackendErrorNotSupported);
  if (const Status status = ready(handle, &stream); status != mybackendSuccess) return remember(status);
  stream->wait();
  return remember(ready(stream->device));
}

Status mybackendStreamQuery(mybackendStream_t handle) {
  std::shared_ptr<Stream> stream;
  if (const Status status = ready(handle, &stream); status != mybackendSuccess) return remember(status);
  return stream->idle() ? mybackendSuccess : mybackendErrorNotReady;
}

Status mybackendDeviceSynchronize(void) {
  if (const Status status = may_wait(current); status != mybackendSuccess) return remember(status);
  wait_for(current);
  return remember(ready(current));
}

Status mybackendDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return mybackendSuccess;
}

Status mybackendStreamCreate(mybackendStream_t* stream) { return mybackendStreamCreateWithPriority(stream, 0); }

Status mybackendStreamCreateWithPriority(mybackendStream_t* handle, int priority) {
  if (const Status status = ready(current); status != mybackendSuccess) return remember(status);
  const std::lock_guard lock(handles_mutex);
  const auto stream = start(current, std::clamp(priority, -1, 0));
  handles[stream.get()] = stream;
  *handle = reinterpret_cast<mybackendStream_t>(stream.get());
  return mybackendSuccess;
}

Status mybackendStreamDestroy(mybackendStream_t handle) {
  const std::lock_guard lock(handles_mutex);
  const auto found = handles.find(reinterpret_cast<Stream*>(handle));
  if (found == handles.end()) return remember(mybackendErrorInvalidHandle);
  found->second->close();
  handles.erase(found);
  return mybackendSuccess;
}

Status mybackendStreamGetPriority(mybackendStream_t handle, int* priority) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return remember(mybackendErrorInvalidHandle);
  *priority = stream->priority;
  return mybackendSuccess;
}

Status mybackendStreamGetDevice(mybackendStream_t handle, int* device) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return remember(mybackendErrorInvalidHandle);
  *device = stream->device;
  return mybackendSuccess;
}

Status mybackendStreamWaitEvent(mybackendStream_t handle, mybackendEvent_t waited) {
  std::shared_ptr<Stream> stream;
  const auto event = event_of(waited);
  if (event == nullptr) return remember(mybackendErrorInvalidHandle);
  if (const Status status = ready(handle, &stream); status != mybackendSuccess) return remember(status);
  if (const auto mark = event->mark()) stream->push([mark] { mark->wait(); });
  return mybackendSuccess;
}

Status mybackendEventCreate(mybackendEvent_t* event) {
  return mybackendEventCreateWithFlags(event, mybackendEventDefault);
}

Status mybackendEventCreateWithFlags(mybackendEvent_t* handle, unsigned int flags) {
  if (const Status status = ready(current); status != mybackendSuccess) return remember(status);
  const std::shared_ptr<Event> event(new Event{(flags & mybackendEventDisableTiming) == 0, {}, nullptr});
  const std::lock_guard lock(handles_mutex);
  events[event.get()] = event;
  *handle = reinterpret_cast<mybackendEvent_t>(event.get());
  return mybackendSuccess;
}

Status mybackendEventDestroy(mybackendEvent_t handle) {
  const std::lock_guard lock(handles_mutex);
  return events.erase(reinterpret_cast<Event*>(handle)) == 0 ? remember(mybackendErrorInvalidHandle) : mybackendSuccess;
}

Status mybackendEventRecord(mybackendEvent_t recorded, mybackendStream_t handle) {
  std::shared_ptr<Stream> stream;
  const auto event = event_of(recorded);
  if (event == nullptr) return remember(mybackendErrorInvalidHandle);
  if (const Status status = ready(handle, &stream); status != mybackendSuccess) return remember(status);
  const auto mark = std::make_shared<Mark>();
  stream->push([mark] { mark->pass(); });
  const std::lock_guard lock(event->mutex);
  event->latest = mark;  // only now: nobody may wait for a mark that is not queued
  return mybackendSuccess;
}

Status mybackendEventSynchronize(mybackendEvent_t handle) {
  const auto event = event_of(handle);
  if (event == nullptr) return remember(mybackendErrorInvalidHandle);
  if (const Status status = may_wait(current); status != mybackendSuccess) return remember(status);
  if (const auto mark = event->mark()) mark->wait();
  return mybackendSuccess;
}

Status mybackendEventQuery(mybackendEvent_t handle) {
  const auto event = event_of(handle);
  if (event == nullptr) return remember(mybackendErrorInvalidHandle);
  if (forked) return remember(mybackendErrorForked);
  const auto mark = event->mark();
  return mark == nullptr || mark->query() ? mybackendSuccess : mybackendErrorNotReady;
}

Status mybackendEventElapsedTime(float* milliseconds, mybackendEvent_t start, mybackendEvent_t end) {
  const auto first = event_of(start);
  const auto last = event_of(end);
  if (first == nullptr || last == nullptr || !first->timed || !last->timed)
    return remember(mybackendErrorInvalidHandle);
  const auto from = first->mark();
  const auto to = last->mark();
  if (from == nullptr || to == nullptr) return remember(mybackendErrorInvalidHandle);
  if (!from->query() || !to->query()) return mybackendErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return mybackendSuccess;
}

Status mybackendLaunchKernel(mybackendStream_t handle, void (*function)(void*), void* argument) {
  std::shared_ptr<Stream> stream;
  if (const Status status = ready(handle, &stream); status != mybackendSuccess) return remember(status);
  ++counts[kKernels];
  stream->push([=] { function(argument); });
  return mybackendSuccess;
}

}  // extern "C"
