// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>

#include "device.h"
#include "error.h"
#include "handle.h"
#include "stream.h"

namespace openreg::driver {
namespace {

HandleTable<Stream, orStream_t>& stream_table() {
  static auto& instance = *new HandleTable<Stream, orStream_t>;
  return instance;
}

}  // namespace

std::shared_ptr<Stream> find_stream(orStream_t handle) {
  return handle == nullptr ? current_device().default_stream() : stream_table().find(handle);
}

}  // namespace openreg::driver

using namespace openreg::driver;

extern "C" {

orError_t orStreamCreate(orStream_t* stream) { return orStreamCreateWithPriority(stream, Stream::kLeastPriority); }

orError_t orStreamCreateWithPriority(orStream_t* stream, int priority) {
  return call([&] {
    if (stream == nullptr) return orErrorInvalidValue;
    const int clamped = std::clamp(priority, Stream::kGreatestPriority, Stream::kLeastPriority);
    *stream = stream_table().add(current_device().make_stream(clamped));
    return orSuccess;
  });
}

orError_t orStreamDestroy(orStream_t stream) {
  return call([&] {
    const auto found = stream_table().remove(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    found->close();
    return orSuccess;
  });
}

orError_t orStreamSynchronize(orStream_t stream) {
  return call([&] {
    if (Stream::current() != nullptr) return orErrorNotSupported;
    const auto found = find_stream(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    if (refuse_to_wait(found->capture())) return orErrorCaptureUnsupported;
    found->wait();
    return found->take_failure() ? orErrorUnknown : orSuccess;
  });
}

orError_t orStreamQuery(orStream_t stream) {
  return call([&] {
    const auto found = find_stream(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    if (refuse_to_wait(found->capture())) return orErrorCaptureUnsupported;
    if (!found->idle()) return orErrorNotReady;
    return found->take_failure() ? orErrorUnknown : orSuccess;
  });
}

orError_t orStreamGetPriority(orStream_t stream, int* priority) {
  return call([&] {
    const auto found = find_stream(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    if (priority == nullptr) return orErrorInvalidValue;
    *priority = found->priority();
    return orSuccess;
  });
}

orError_t orStreamGetDevice(orStream_t stream, int* device) {
  return call([&] {
    const auto found = find_stream(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    if (device == nullptr) return orErrorInvalidValue;
    *device = found->device();
    return orSuccess;
  });
}

orError_t orLaunchKernel(orStream_t stream, void (*function)(void*), void* argument) {
  return call([&] {
    // The default stream lives as long as its device, so no share of it is needed.
    const auto found = stream == nullptr ? nullptr : stream_table().find(stream);
    Stream* const target = stream == nullptr ? current_device().default_stream().get() : found.get();
    if (target == nullptr) return orErrorInvalidHandle;
    if (function == nullptr) return orErrorInvalidValue;
    target->submit(Stream::Touches::kMemory, [function, argument] { function(argument); });
    return orSuccess;
  });
}

}  // extern "C"
