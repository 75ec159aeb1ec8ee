// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Event.h"

#include <c10/util/Exception.h>

#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"

namespace openreg {

OpenRegEvent::~OpenRegEvent() {
  if (event_ != nullptr && !isInBadFork()) {
    OPENREG_WARN(orEventDestroy(event_));
  }
}

void OpenRegEvent::record(const OpenRegStream& stream, bool reported) {
  initialize();
  const OpenRegGuard guard(stream.device_index());
  if (event_ == nullptr) {
    const unsigned int flags = enable_timing_ ? orEventDefault : orEventDisableTiming;
    orEvent_t created = nullptr;
    OPENREG_CHECK(orEventCreateWithFlags(&created, flags));
    event_ = created;
    device_ = stream.device_index();
    if (reported) {
      fire_hook(&TraceHooks::trace_gpu_event_creation, event_);
    }
  }
  TORCH_CHECK(
      device_ == stream.device_index(),
      "openreg: an event of device ", int{device_}, " can't be recorded on ", stream);
  OPENREG_CHECK(orEventRecord(event_, stream.stream()));
  if (reported) {
    fire_hook(&TraceHooks::trace_gpu_event_record, event_, stream.unwrap().hash());
  }
}

void OpenRegEvent::block(const OpenRegStream& stream) const {
  if (event_ != nullptr) {
    const OpenRegGuard guard(stream.device_index());
    OPENREG_CHECK(orStreamWaitEvent(stream.stream(), event_));
    fire_hook(&TraceHooks::trace_gpu_event_wait, event_, stream.unwrap().hash());
  }
}

bool OpenRegEvent::query() const {
  if (event_ == nullptr) {
    return true;
  }
  const orError_t error = orEventQuery(event_);
  if (error == orErrorNotReady) {
    return false;
  }
  OPENREG_CHECK(error);
  fire_hook(&TraceHooks::trace_gpu_event_synchronization, event_);
  return true;
}

void OpenRegEvent::synchronize() const {
  if (event_ != nullptr) {
    OPENREG_CHECK_WAIT(device_, orEventSynchronize(event_));
    fire_hook(&TraceHooks::trace_gpu_event_synchronization, event_);
  }
}

double OpenRegEvent::elapsed_time(const OpenRegEvent& end) const {
  TORCH_CHECK(enable_timing_ && end.enable_timing_, "openreg: both events must be made with timing");
  TORCH_CHECK(event_ != nullptr && end.event_ != nullptr, "openreg: both events must be recorded first");
  float milliseconds = 0;
  OPENREG_CHECK(orEventElapsedTime(&milliseconds, event_, end.event_));
  return milliseconds;
}

void queue_wait(const OpenRegStream& stream, const OpenRegStream& other) {
  OpenRegEvent event;
  event.record(other);
  event.block(stream);
}

std::ostream& operator<<(std::ostream& out, const OpenRegStream& stream) { return out << stream.unwrap(); }

}  // namespace openreg
