// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "device.h"
#include "error.h"
#include "event.h"
#include "handle.h"
#include "stream.h"

namespace openreg::driver {
namespace {

HandleTable<Event, orEvent_t>& event_table() {
  static auto& instance = *new HandleTable<Event, orEvent_t>;
  return instance;
}

}  // namespace
}  // namespace openreg::driver

using namespace openreg::driver;

extern "C" {

orError_t orEventCreate(orEvent_t* event) { return orEventCreateWithFlags(event, orEventDefault); }

orError_t orEventCreateWithFlags(orEvent_t* event, unsigned int flags) {
  return call([&] {
    if (event == nullptr || (flags & ~static_cast<unsigned int>(orEventDisableTiming)) != 0) return orErrorInvalidValue;
    current_device();  // throws without devices
    *event = event_table().add(std::make_shared<Event>((flags & orEventDisableTiming) == 0));
    return orSuccess;
  });
}

orError_t orEventDestroy(orEvent_t event) {
  return call([&] { return event_table().remove(event) == nullptr ? orErrorInvalidHandle : orSuccess; });
}

orError_t orEventRecord(orEvent_t event, orStream_t stream) {
  return call([&] {
    const auto found = event_table().find(event);
    const auto target = find_stream(stream);
    if (found == nullptr || target == nullptr) return orErrorInvalidHandle;
    if (auto capture = target->capture(); capture != nullptr) {
      auto seen = capture->record(*target);
      found->set_latest(std::make_shared<Mark>(std::move(capture), std::move(seen)));
      return orSuccess;
    }
    auto mark = std::make_shared<Mark>();
    target->submit(Stream::Touches::kNothing, [mark] { mark->happen(); });
    // Only now: nobody may wait for a mark that could not be queued.
    found->set_latest(std::move(mark));
    return orSuccess;
  });
}

orError_t orStreamWaitEvent(orStream_t stream, orEvent_t event) {
  return call([&] {
    const auto found = event_table().find(event);
    const auto target = find_stream(stream);
    if (found == nullptr || target == nullptr) return orErrorInvalidHandle;
    auto mark = found->latest();
    if (mark == nullptr) return orSuccess;
    if (const auto& capture = mark->capture(); capture != nullptr) {
      if (capture->ended()) return orErrorInvalidHandle;
      if (!capture->join(target)) {
        refuse_to_wait(capture);
        return orErrorCaptureUnsupported;
      }
      capture->wait(*target, mark->seen());
      return orSuccess;
    }
    // Even if it has happened already: in a replay that would mean nothing.
    if (refuse_to_wait(target->capture())) return orErrorCaptureUnsupported;
    if (mark->happened()) return orSuccess;
    target->submit(Stream::Touches::kNothing, [mark = std::move(mark)] { mark->wait(); });
    return orSuccess;
  });
}

orError_t orEventSynchronize(orEvent_t event) {
  return call([&] {
    if (Stream::current() != nullptr) return orErrorNotSupported;
    const auto found = event_table().find(event);
    if (found == nullptr) return orErrorInvalidHandle;
    const auto mark = found->latest();
    if (mark == nullptr) return orSuccess;
    if (refuse_to_wait(mark->capture())) return orErrorCaptureUnsupported;
    mark->wait();
    Devices::get().seal();
    return orSuccess;
  });
}

orError_t orEventQuery(orEvent_t event) {
  return call([&] {
    const auto found = event_table().find(event);
    if (found == nullptr) return orErrorInvalidHandle;
    const auto mark = found->latest();
    if (mark == nullptr) return orSuccess;
    if (refuse_to_wait(mark->capture())) return orErrorCaptureUnsupported;
    if (!mark->happened()) return orErrorNotReady;
    Devices::get().seal();
    return orSuccess;
  });
}

orError_t orEventElapsedTime(float* milliseconds, orEvent_t start, orEvent_t end) {
  return call([&] {
    const auto first = event_table().find(start);
    const auto second = event_table().find(end);
    if (first == nullptr || second == nullptr || !first->timed() || !second->timed()) return orErrorInvalidHandle;
    if (milliseconds == nullptr) return orErrorInvalidValue;
    const auto from = first->latest();
    const auto to = second->latest();
    if (from == nullptr || to == nullptr) return orErrorInvalidHandle;
    Mark::Clock::time_point begun;
    Mark::Clock::time_point ended;
    if (!from->happened(&begun) || !to->happened(&ended)) return orErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(ended - begun).count();
    return orSuccess;
  });
}

}  // extern "C"
