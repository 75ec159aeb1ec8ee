// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/caching/Block.h"

// Note [Blocks that other streams use]
// A freed block may still be in use by work queued on another stream (recordStream said so). Such a
// stream gets an event, and the block is free once all its events have passed, which each allocation checks without
// waiting.

namespace openreg::caching {

/// Events to be used again: making one costs a call of the driver. Never destroyed. Threads: any.
class EventPool {
 public:
  static EventPool& get();

  /// An event recorded on `use`; null if the device refused. Makes device calls.
  orEvent_t record(const StreamUse& use);
  void put(c10::DeviceIndex device, orEvent_t event);

 private:
  std::mutex mutex_;
  std::vector<std::vector<orEvent_t>> free_;  // by device
};

/// The events that blocks of one device wait for: one queue per stream. Threads: under the device's lock.
class PendingEvents {
 public:
  struct Entry {
    orEvent_t event;  // null: could not be recorded; the whole stream has to run dry
    Block* block;
  };
  struct Queue {
    StreamUse use;
    std::deque<Entry> entries;
  };

  bool empty() const { return count_ == 0; }
  void add(const StreamUse& use, orEvent_t event, Block* block);

  /// Calls done(block) for each event that has happened.
  template <typename Done>
  void poll(Done done) {
    for (Queue& queue : queues_) {
      while (!queue.entries.empty() && happened(queue.use, queue.entries.front())) {
        const auto [event, block] = queue.entries.front();
        if (event != nullptr) {
          EventPool::get().put(queue.use.device, event);
        }
        queue.entries.pop_front();
        --count_;
        done(block);
      }
    }
  }

  /// Takes all out, to be waited for without the lock and given to done() or add() afterwards.
  std::vector<Queue> take_all();

 private:
  static bool happened(const StreamUse& use, const Entry& entry);

  std::vector<Queue> queues_;
  size_t count_ = 0;
};

}  // namespace openreg::caching
