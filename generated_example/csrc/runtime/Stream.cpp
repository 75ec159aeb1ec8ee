// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Stream.h"

#include <array>
#include <atomic>
#include <deque>
#include <mutex>

#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"

namespace openreg {

namespace {

constexpr size_t kStreamsPerPool = 4;
constexpr size_t kNormal = 0;
constexpr size_t kHigh = 1;
constexpr size_t kPools = 2;
constexpr size_t kForeign = 2;  // in the place of a pool

struct Pool {
  std::array<std::atomic<orStream_t>, kStreamsPerPool> streams{};  // null: not created yet
  std::mutex creation;
  std::atomic<size_t> next{0};
};

struct DeviceStreams {
  std::array<Pool, kPools> pools;
};

DeviceStreams& streams_of(c10::DeviceIndex device) {
  // Made by the first use with a device there; never destroyed, as threads may outlive static objects.
  static auto* const streams = new std::deque<DeviceStreams>(device_count_ensure_non_zero());
  return streams->at(static_cast<size_t>(device));
}

c10::StreamId stream_id(size_t kind, size_t index) { return static_cast<c10::StreamId>(index << 5 | kind << 1 | 1); }

c10::Stream make_stream(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::PrivateUse1, device), id);
}

orStream_t create_stream(size_t pool) {
  int least = 0;
  int greatest = 0;
  OPENREG_CHECK(orDeviceGetStreamPriorityRange(&least, &greatest));
  orStream_t stream = nullptr;
  OPENREG_CHECK(orStreamCreateWithPriority(&stream, pool == kHigh ? greatest : least));
  return stream;
}

struct CurrentStream {
  c10::StreamId id = 0;
  orStream_t handle = nullptr;
};

// The calling thread's current streams, per device. Zeros, which are the default streams: so a thread needs no set-up.
thread_local std::array<CurrentStream, kMaxDevices + 1> current_streams;

}  // namespace

orStream_t OpenRegStream::stream() const {
  const c10::StreamId id = stream_.id();
  if (id == 0) {
    return nullptr;
  }
  check_device_index(device_index());
  const auto kind = static_cast<size_t>(id >> 1 & 0xf);
  const auto index = static_cast<size_t>(id >> 5);
  DeviceStreams& streams = streams_of(device_index());
  orStream_t handle = nullptr;
  if ((id & 1) == 1 && kind < kPools && index < kStreamsPerPool) {
    handle = streams.pools[kind].streams[index].load(std::memory_order_acquire);
  } else if ((id & 1) == 1 && kind == kForeign) {
    handle = foreign_handle(device_index(), index);
  }
  TORCH_CHECK(handle != nullptr, "openreg: no stream has the id ", id);
  return handle;
}

bool OpenRegStream::query() const {
  const OpenRegGuard guard(device_index());
  const orError_t error = orStreamQuery(stream());
  if (error == orErrorNotReady) {
    return false;
  }
  OPENREG_CHECK(error);
  fire_hook(&TraceHooks::trace_gpu_stream_synchronization, stream_.hash());
  return true;
}

void OpenRegStream::synchronize() const {
  const OpenRegGuard guard(device_index());
  OPENREG_CHECK_WAIT(device_index(), orStreamSynchronize(stream()));
  fire_hook(&TraceHooks::trace_gpu_stream_synchronization, stream_.hash());
}

int OpenRegStream::priority() const {
  const OpenRegGuard guard(device_index());
  int priority = 0;
  OPENREG_CHECK(orStreamGetPriority(stream(), &priority));
  return priority;
}

OpenRegStream getStreamFromPool(int priority, c10::DeviceIndex device) {
  initialize();
  device = resolve_device_index(device);
  mark_device_used(device);
  const size_t kind = priority < 0 ? kHigh : kNormal;
  Pool& pool = streams_of(device).pools[kind];
  const size_t index = pool.next.fetch_add(1, std::memory_order_relaxed) % kStreamsPerPool;
  if (pool.streams[index].load(std::memory_order_acquire) == nullptr) {
    const std::lock_guard<std::mutex> lock(pool.creation);
    if (pool.streams[index].load(std::memory_order_relaxed) == nullptr) {
      const OpenRegGuard guard(device);
      pool.streams[index].store(create_stream(kind), std::memory_order_release);
    }
  }
  const c10::Stream stream = make_stream(device, stream_id(kind, index));
  fire_hook(&TraceHooks::trace_gpu_stream_creation, stream.hash());  // each time it is handed out
  return OpenRegStream(stream);
}

OpenRegStream foreign_stream(c10::DeviceIndex device, size_t index) {
  return OpenRegStream(make_stream(device, stream_id(kForeign, index)));
}

OpenRegStream getDefaultStream(c10::DeviceIndex device) {
  return OpenRegStream(make_stream(resolve_device_index(device), 0));
}

OpenRegStream getCurrentStream(c10::DeviceIndex device) {
  device = resolve_device_index(device);
  return OpenRegStream(make_stream(device, current_streams[static_cast<size_t>(device)].id));
}

orStream_t currentStreamHandle(c10::DeviceIndex device) noexcept {
  return current_streams[static_cast<size_t>(device)].handle;
}

void setCurrentStream(OpenRegStream stream) {
  check_device_index(stream.device_index());
  current_streams[static_cast<size_t>(stream.device_index())] = {stream.id(), stream.stream()};
}

}  // namespace openreg
