// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "device.h"
#include "error.h"
#include "capture.h"
#include "host_memory.h"
#include "memory_debug.h"
#include "move_bytes.h"
#include "stream.h"

// Note [Who copies]
// Bytes are moved by a stream's thread, also for copies that look synchronous: the host has no right to device memory. A
// synchronous copy queues and waits. A small one waits first and then moves the bytes itself, as the engine of a card would:
// handing it to a thread and waiting for its answer takes longer than anything else about it.
namespace openreg::driver {
namespace {

// Host memory that is copied right away, so that the caller may reuse it before the stream gets there.
constexpr std::size_t kStagingLimit = std::size_t{64} << 10;
// What a host thread moves itself, where it has to wait anyway.
constexpr std::size_t kDirectLimit = std::size_t{4} << 10;

// One end of a copy.
struct End {
  bool valid = false;
  int device = -1;  // -1: host
  bool pinned = false;
};

// With debugging on, the end of the process if this is freed memory, or the end of an allocation.
void explain(const void* address) {
  MemoryDebug* debug = MemoryDebug::get();
  if (debug != nullptr && debug->explain(address, "a copy or memset reaches beyond")) std::abort();
}

End device_end(const void* pointer, std::size_t size) {
  Devices& devices = Devices::get();
  const int number = devices.device_of(pointer);
  Allocation allocation{};
  if (number < 0) return {};
  if (!devices.at(number).heap().find(pointer, &allocation)) {
    explain(pointer);
    return {};
  }
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - allocation.base);
  if (size > allocation.size - offset) explain(allocation.base + allocation.size);
  return {size <= allocation.size - offset, number, false};
}

End host_end(const void* pointer, std::size_t size) {
  if (pointer == nullptr || Devices::get().device_of(pointer) >= 0) return {};
  HostMemory::Block block{};
  if (!HostMemory::get().find(pointer, &block)) return {true, -1, false};
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - block.base);
  return {size <= block.size - offset, -1, true};
}

struct Ends {
  End destination;
  End source;

  bool valid() const { return destination.valid && source.valid; }
  // The device whose default stream runs a synchronous copy.
  int device() const {
    if (source.device >= 0) return source.device;
    return destination.device >= 0 ? destination.device : current_device().number();
  }
};

// The bytes from the first row of a copy to the end of the last.
std::size_t span(std::size_t pitch, std::size_t width, std::size_t height) { return (height - 1) * pitch + width; }

Ends find_ends(const void* destination, std::size_t destination_size, const void* source, std::size_t source_size, orMemcpyKind kind) {
  const bool to_device = kind == orMemcpyHostToDevice || kind == orMemcpyDeviceToDevice;
  const bool from_device = kind == orMemcpyDeviceToHost || kind == orMemcpyDeviceToDevice;
  if (!to_device && !from_device && kind != orMemcpyHostToHost) return {};
  return {to_device ? device_end(destination, destination_size) : host_end(destination, destination_size),
      from_device ? device_end(source, source_size) : host_end(source, source_size)};
}

Ends find_ends(const void* destination, const void* source, std::size_t size, orMemcpyKind kind) {
  return find_ends(destination, size, source, size, kind);
}

orError_t finish(Stream& stream) {
  if (refuse_to_wait(stream.capture())) return orErrorCaptureUnsupported;
  stream.wait();
  return stream.take_failure() ? orErrorUnknown : orSuccess;
}

What copying(const Ends& ends, std::size_t size) {
  const bool to_device = ends.destination.device >= 0;
  const bool from_device = ends.source.device >= 0;
  const auto from_host = to_device ? orMemcpyHostToDevice : orMemcpyHostToHost;
  What what{.kind = orActivityMemcpy, .bytes = size};
  what.copy = from_device ? (to_device ? orMemcpyDeviceToDevice : orMemcpyDeviceToHost) : from_host;
  what.pageable = (!to_device && !ends.destination.pinned) || (!from_device && !ends.source.pinned);
  return what;
}

What setting(std::size_t size) { return {.kind = orActivityMemset, .bytes = size}; }

void submit_copy(
    Stream& stream, void* destination, const void* source, std::size_t size, const What& what) {
  stream.submit(Stream::Touches::kMemory, [=] { move_bytes(destination, source, size); }, what);
}

orError_t copy_and_wait(
    Stream& stream, void* destination, const void* source, std::size_t size, const What& what) {
  if (refuse_to_wait(stream.capture())) return orErrorCaptureUnsupported;
  const auto move = [&](const Isolation::Visit& visit) { std::memmove(visit.at(destination), visit.at(source), size); };
  if (size <= kDirectLimit && stream.run_when_idle(move, what)) return stream.take_failure() ? orErrorUnknown : orSuccess;
  submit_copy(stream, destination, source, size, what);
  return finish(stream);
}

void submit_staged(
    Stream& stream, void* destination, const void* source, std::size_t size, const What& what) {
  const auto* bytes = static_cast<const char*>(source);
  auto staging = std::make_shared<const std::vector<char>>(bytes, bytes + size);
  const auto copy = [destination, staging] { std::memcpy(destination, staging->data(), staging->size()); };
  stream.submit(Stream::Touches::kMemory, copy, what);
}

}  // namespace
}  // namespace openreg::driver

using namespace openreg::driver;

extern "C" {

orError_t orMemcpy(void* destination, const void* source, size_t size, orMemcpyKind kind) {
  return call([&] {
    if (Stream::current() != nullptr) return orErrorNotSupported;
    if (size == 0) return orSuccess;
    const Ends ends = find_ends(destination, source, size, kind);
    if (!ends.valid()) return orErrorInvalidValue;
    Devices& devices = Devices::get();
    Stream& stream = *devices.at(ends.device()).default_stream();
    if (ends.destination.device >= 0 && ends.destination.device != ends.device()) {
      devices.at(ends.destination.device).default_stream()->wait();
    }
    return copy_and_wait(stream, destination, source, size, copying(ends, size));
  });
}

orError_t orMemcpyAsync(void* destination, const void* source, size_t size, orMemcpyKind kind, orStream_t stream) {
  return call([&] {
    const auto target = find_stream(stream);
    if (target == nullptr) return orErrorInvalidHandle;
    if (size == 0) return orSuccess;
    const Ends ends = find_ends(destination, source, size, kind);
    if (!ends.valid()) return orErrorInvalidValue;
    const bool reads_pageable = ends.source.device < 0 && !ends.source.pinned;
    const bool writes_pageable = ends.destination.device < 0 && !ends.destination.pinned;
    if (reads_pageable && !writes_pageable && size <= kStagingLimit) {
      submit_staged(*target, destination, source, size, copying(ends, size));
      return orSuccess;
    }
    const bool must_wait = reads_pageable || writes_pageable;
    if (must_wait && Stream::current() != nullptr) return orErrorNotSupported;
    if (must_wait) return copy_and_wait(*target, destination, source, size, copying(ends, size));
    submit_copy(*target, destination, source, size, copying(ends, size));
    return orSuccess;
  });
}

orError_t orMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source, size_t source_pitch, size_t width,
    size_t height, orMemcpyKind kind, orStream_t stream) {
  return call([&] {
    const auto target = find_stream(stream);
    if (target == nullptr) return orErrorInvalidHandle;
    if (width == 0 || height == 0) return orSuccess;
    if (destination_pitch < width || source_pitch < width) return orErrorInvalidValue;
    const Ends ends = find_ends(destination, span(destination_pitch, width, height), source, span(source_pitch, width, height), kind);
    if (!ends.valid()) return orErrorInvalidValue;
    const What what = copying(ends, width * height);
    if (what.pageable && Stream::current() != nullptr) return orErrorNotSupported;
    if (what.pageable && refuse_to_wait(target->capture())) return orErrorCaptureUnsupported;
    const auto move = [=] {
      auto* to = static_cast<char*>(destination);
      const auto* from = static_cast<const char*>(source);
      for (std::size_t row = 0; row < height; ++row) std::memmove(to + row * destination_pitch, from + row * source_pitch, width);
    };
    target->submit(Stream::Touches::kMemory, move, what);
    return what.pageable ? finish(*target) : orSuccess;
  });
}

orError_t orMemset(void* pointer, int value, size_t size) {
  return call([&] {
    if (Stream::current() != nullptr) return orErrorNotSupported;
    if (size == 0) return orSuccess;
    const End end = device_end(pointer, size);
    if (!end.valid) return orErrorInvalidValue;
    Stream& stream = *Devices::get().at(end.device).default_stream();
    stream.submit(Stream::Touches::kMemory, [=] { std::memset(pointer, value, size); }, setting(size));
    return finish(stream);
  });
}

orError_t orMemsetAsync(void* pointer, int value, size_t size, orStream_t stream) {
  return call([&] {
    const auto target = find_stream(stream);
    if (target == nullptr) return orErrorInvalidHandle;
    if (size == 0) return orSuccess;
    if (!device_end(pointer, size).valid) return orErrorInvalidValue;
    target->submit(Stream::Touches::kMemory, [=] { std::memset(pointer, value, size); }, setting(size));
    return orSuccess;
  });
}

}  // extern "C"
