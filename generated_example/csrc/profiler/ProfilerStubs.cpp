// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `profiler` in the spec changes it, then `openreg-gen generate`.
#include <openreg.h>

#include <functional>
#include <memory>

#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

#include "runtime/Event.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/Stream.h"

// The profiler of torch.autograd without Kineto: an event before and after each operator. See Note [Profiling].

namespace openreg {
namespace {

using torch::profiler::impl::ProfilerVoidEventStub;

struct Stubs : torch::profiler::impl::ProfilerStubs {
  void record(c10::DeviceIndex* device, ProfilerVoidEventStub* event, int64_t* cpu_ns) const override {
    if (device != nullptr) {
      *device = current_device();
    }
    orEvent_t made = nullptr;
    OPENREG_CHECK(orEventCreate(&made));
    *event = std::shared_ptr<void>(made, [](void* what) { orEventDestroy(static_cast<orEvent_t>(what)); });
    if (cpu_ns != nullptr) {
      *cpu_ns = c10::getTime();
    }
    OPENREG_CHECK(orEventRecord(made, getCurrentStream().stream()));
  }
  /// Microseconds.
  float elapsed(const ProfilerVoidEventStub* begin, const ProfilerVoidEventStub* end) const override {
    for (const ProfilerVoidEventStub* event : {begin, end}) {
      OPENREG_CHECK(orEventSynchronize(static_cast<orEvent_t>(event->get())));
    }
    float milliseconds = 0;
    OPENREG_CHECK(orEventElapsedTime(&milliseconds, static_cast<orEvent_t>(begin->get()), static_cast<orEvent_t>(end->get())));
    return milliseconds * 1000;
  }
  // Marks for another tool's timeline; the device's API has none.
  void mark(const char* /*name*/) const override {}
  void rangePush(const char* /*name*/) const override {}
  void rangePop() const override {}
  bool enabled() const override { return true; }
  void onEachDevice(std::function<void(int)> op) const override {
    const c10::DeviceIndex before = current_device();
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
      set_device(device);
      op(device);
    }
    set_device(before);
  }
  void synchronize() const override { device_synchronize(); }
};

const bool registered = [] {
  static Stubs stubs;
  torch::profiler::impl::registerPrivateUse1Methods(&stubs);
  return true;
}();

}  // namespace
}  // namespace openreg
