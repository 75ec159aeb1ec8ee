// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include <memory>
#include <optional>

#include <c10/core/DeviceGuard.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include "runtime/Event.h"
#include "runtime/Stream.h"

// Without it DistributedDataParallel has no times of the device in its logging data.

namespace openreg::distributed {
namespace {

/// The times at which the device, not the host, came to the steps of an iteration.
class Timer final : public c10d::Timer {
 public:
  explicit Timer(c10::Device device) : device_(device.index()) {}

  void record(Event event) override {
    c10d::Timer::record(event);
    OpenRegEvent& mark = event_of(event);
    mark = OpenRegEvent(/*enable_timing=*/true);
    mark.record(getCurrentStream(device_));
  }

  std::optional<int64_t> measureDifference(Event start, Event end) override {
    const OpenRegEvent& from = event_of(start);
    const OpenRegEvent& to = event_of(end);
    if (!from.is_created() || !to.is_created()) {
      return std::nullopt;
    }
    from.synchronize();
    to.synchronize();
    const double milliseconds = from.elapsed_time(to);
    if (milliseconds < 0) {
      return std::nullopt;  // of different iterations
    }
    return static_cast<int64_t>(milliseconds * 1e6);
  }

 private:
  OpenRegEvent& event_of(Event event) { return events_[static_cast<size_t>(event)]; }

  c10::DeviceIndex device_;
  OpenRegEvent events_[static_cast<size_t>(Event::kBackwardCommEnd) + 1];
};

const c10::Registerer<c10::DeviceType, std::unique_ptr<c10d::Timer>, c10::Device> registered(
    c10::DeviceType::PrivateUse1, c10d::TimerRegistry(),
    c10::Registerer<c10::DeviceType, std::unique_ptr<c10d::Timer>, c10::Device>::DefaultCreator<Timer>);

}  // namespace
}  // namespace openreg::distributed
