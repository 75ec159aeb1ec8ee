// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/DeviceScope.h"
#include "runtime/caching/PendingEvents.h"

#include <algorithm>

#include "runtime/Functions.h"

namespace openreg::caching {

EventPool& EventPool::get() {
  static EventPool* const pool = new EventPool;  // blocks may be freed after main()
  return *pool;
}

orEvent_t EventPool::record(const StreamUse& use) {
  const auto device = static_cast<size_t>(use.device);
  orEvent_t event = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (device < free_.size() && !free_[device].empty()) {
      event = free_[device].back();
      free_[device].pop_back();
    }
  }
  if (event == nullptr && orEventCreateWithFlags(&event, orEventDisableTiming) != orSuccess) {
    orGetLastError();
    return nullptr;
  }
  if (orEventRecord(event, use.stream) == orSuccess) {
    return event;
  }
  orGetLastError();
  put(use.device, event);
  return nullptr;
}

void EventPool::put(c10::DeviceIndex device, orEvent_t event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto index = static_cast<size_t>(device);
  if (index >= free_.size()) {
    free_.resize(index + 1);
  }
  free_[index].push_back(event);
}

void PendingEvents::add(const StreamUse& use, orEvent_t event, Block* block) {
  auto queue = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& each) { return each.use == use; });
  if (queue == queues_.end()) {
    queue = queues_.insert(queue, Queue{use, {}});
  }
  queue->entries.push_back({event, block});
  ++count_;
}

std::vector<PendingEvents::Queue> PendingEvents::take_all() {
  std::vector<Queue> all;
  all.swap(queues_);
  count_ = 0;
  return all;
}

bool PendingEvents::happened(const StreamUse& use, const Entry& entry) {
  orError_t error = orSuccess;
  if (entry.event != nullptr) {
    error = orEventQuery(entry.event);
  } else {
    const DeviceScope scope(use.device);  // a null stream is the current device's
    error = scope.error() == orSuccess ? orStreamQuery(use.stream) : scope.error();
  }
  if (error == orSuccess) {
    return true;
  }
  if (error != orErrorNotReady) {
    orGetLastError();  // not known, so not yet; a broken device says so where the user waits for it
  }
  return false;
}

}  // namespace openreg::caching
