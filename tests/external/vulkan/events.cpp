// An event is a point in a stream, which costs nothing to record. If the event keeps the time, a timestamp query is
// queued as well.
#include "vulkan.h"

namespace mybackend::port {
namespace {

/// A query that the device writes its clock into.
class Timestamp {
 public:
  explicit Timestamp(Device& owner) : device(owner) {
    auto create = structure<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    create.queryType = VK_QUERY_TYPE_TIMESTAMP;
    create.queryCount = 1;
    check(vkCreateQueryPool(device.device, &create, nullptr, &pool_), "vkCreateQueryPool");
    vkResetQueryPool(device.device, pool_, 0, 1);
  }
  ~Timestamp() {
    if (!forked() && !exiting()) vkDestroyQueryPool(device.device, pool_, nullptr);
  }
  Timestamp(const Timestamp&) = delete;
  Timestamp& operator=(const Timestamp&) = delete;

  void write(VkCommandBuffer commands) const {
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_, 0);
  }
  uint64_t ticks() const {
    uint64_t value = 0;
    check(vkGetQueryPoolResults(device.device, pool_, 0, 1, sizeof(value), &value, sizeof(value),
                                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    return value & device.timestamp_mask;
  }

  Device& device;

 private:
  VkQueryPool pool_ = VK_NULL_HANDLE;
};

struct EventState {
  Mark mark;                              // without a stream if the event was never recorded
  std::shared_ptr<const Timestamp> time;  // null if the event keeps no time
};

struct Event {
  explicit Event(bool keeps_time) : timed(keeps_time) {}
  const bool timed;
  std::mutex mutex;
  EventState latest;

  EventState recorded() {
    const std::lock_guard lock(mutex);
    return latest;
  }
};

auto& events = *new HandleTable<Event, mybackendEvent_t>;

std::shared_ptr<Event> event_of(mybackendEvent_t handle) {
  auto event = events.find(handle);
  if (event == nullptr) throw Failure(mybackendErrorInvalidHandle, "no such event");
  return event;
}

bool happened(const EventState& recorded) {
  return recorded.mark.stream == nullptr || recorded.mark.stream->reached(recorded.mark.value);
}

EventState record(const std::shared_ptr<Stream>& stream, bool timed) {
  if (!timed) return {stream->last(), nullptr};
  const auto time = std::make_shared<const Timestamp>(stream->device);
  const uint64_t value = stream->queue([&](Commands& commands) {
    time->write(commands.buffer);
    commands.kept = time;
  });
  return {{stream, value}, time};
}

}  // namespace
}  // namespace mybackend::port

using namespace mybackend::port;

extern "C" {

Status mybackendEventCreate(mybackendEvent_t* event) {
  return mybackendEventCreateWithFlags(event, mybackendEventDefault);
}

Status mybackendEventCreateWithFlags(mybackendEvent_t* event, unsigned int flags) {
  return call([&] {
    if (event == nullptr) return mybackendErrorInvalidValue;
    const bool timed = (flags & mybackendEventDisableTiming) == 0 && device_at(current_device()).timestamp_mask != 0;
    *event = events.add(std::make_shared<Event>(timed));
    return mybackendSuccess;
  });
}

Status mybackendEventDestroy(mybackendEvent_t event) {
  return release([&] { return events.remove(event) == nullptr ? mybackendErrorInvalidHandle : mybackendSuccess; });
}

Status mybackendEventRecord(mybackendEvent_t handle, mybackendStream_t stream) {
  return call([&] {
    const auto event = event_of(handle);
    EventState latest = record(stream_of(stream), event->timed);
    const std::lock_guard lock(event->mutex);
    event->latest = std::move(latest);
    return mybackendSuccess;
  });
}

Status mybackendEventSynchronize(mybackendEvent_t event) {
  return call_and_wait([&] {
    const Mark mark = event_of(event)->recorded().mark;
    if (mark.stream != nullptr) mark.stream->wait(mark.value);
    return mybackendSuccess;
  });
}

Status mybackendEventQuery(mybackendEvent_t event) {
  return call([&] { return happened(event_of(event)->recorded()) ? mybackendSuccess : mybackendErrorNotReady; });
}

Status mybackendEventElapsedTime(float* milliseconds, mybackendEvent_t start, mybackendEvent_t end) {
  return call([&] {
    if (milliseconds == nullptr) return mybackendErrorInvalidValue;
    const EventState first = event_of(start)->recorded();
    const EventState last = event_of(end)->recorded();
    if (first.time == nullptr || last.time == nullptr)
      throw Failure(mybackendErrorInvalidHandle, "an event was never recorded, or keeps no time");
    if (&first.time->device != &last.time->device)
      throw Failure(mybackendErrorInvalidHandle, "the events are of two devices");
    if (!happened(first) || !happened(last)) return mybackendErrorNotReady;
    const auto ticks = static_cast<int64_t>(last.time->ticks() - first.time->ticks());
    *milliseconds = static_cast<float>(
        static_cast<double>(ticks) * static_cast<double>(first.time->device.properties.limits.timestampPeriod) * 1e-6);
    return mybackendSuccess;
  });
}

Status mybackendStreamWaitEvent(mybackendStream_t stream, mybackendEvent_t event) {
  return call([&] {
    stream_of(stream)->queue_wait(event_of(event)->recorded().mark);
    return mybackendSuccess;
  });
}

}  // extern "C"
