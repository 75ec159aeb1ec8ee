// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <c10/core/StorageImpl.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

// Note [What a group leaves unfinished]
// Gloo can't cancel a collective: an aborted one ends with its time-out, half an hour by default, and so does Gloo itself.
// Gloo and the memory that it works on are kept until then, without a waiting thread: the next use of a group, or lack
// of memory, checks whether it is over. When the process exits, the system frees the rest.
// No thread of this backend outlives main(): statics that it uses would be gone.

namespace openreg::distributed {

/// Threads: any.
class UnfinishedCalls {
 public:
  struct Item {
    std::vector<c10::intrusive_ptr<c10::ivalue::Future>> running;
    std::vector<c10::intrusive_ptr<c10::StorageImpl>> storages;
    c10::intrusive_ptr<c10d::Backend> gloo;

    bool is_over() const;
  };

  static UnfinishedCalls& get();
  void keep(Item item);
  /// Releases the items that are over; whether there were any. Not on a stream's thread, which the release of memory may wait for.
  bool collect();

 private:
  std::mutex mutex_;
  std::vector<Item> items_;
};

/// Threads that run beside a stream. When the process exits, they are asked to give up, and waited for. Threads: any.
class StreamHelpers {
 public:
  static StreamHelpers& get();

  /// Runs `work` on a thread of its own. `give_up` makes it end soon. Throws std::system_error if there can be no thread.
  template <class Work>
  void start(std::function<void()> give_up, Work work) {
    const uint64_t id = add(std::move(give_up));
    try {
      std::thread([this, id, work = std::move(work)]() mutable {
        {
          Work now = std::move(work);  // gone before the thread counts as ended
          now();
        }
        remove(id);
      }).detach();
    } catch (...) {
      remove(id);
      throw;
    }
  }

 private:
  uint64_t add(std::function<void()> give_up);
  void remove(uint64_t id);
  void end();

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::function<void()>> running_;
};

}  // namespace openreg::distributed
