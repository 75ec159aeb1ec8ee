// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include "distributed/Unfinished.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "runtime/Functions.h"
#include "runtime/MemoryAllocator.h"

namespace openreg::distributed {

bool UnfinishedCalls::Item::is_over() const {
  return std::all_of(running.begin(), running.end(), [](const auto& future) { return future->completed(); });
}

UnfinishedCalls& UnfinishedCalls::get() {
  static auto& instance = *[] {
    registerFreeMemoryCallback([] { return get().collect(); });
    return new UnfinishedCalls();
  }();
  return instance;
}

void UnfinishedCalls::keep(Item item) {
  const std::lock_guard<std::mutex> lock(mutex_);
  items_.push_back(std::move(item));
}

bool UnfinishedCalls::collect() {
  std::vector<Item> over;  // released without the lock
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto first = std::partition(items_.begin(), items_.end(), [](const Item& item) { return !item.is_over(); });
    std::move(first, items_.end(), std::back_inserter(over));
    items_.erase(first, items_.end());
  }
  return !over.empty();
}

StreamHelpers& StreamHelpers::get() {
  static auto& instance = *[] {
    std::atexit([] { get().end(); });
    return new StreamHelpers();
  }();
  return instance;
}

uint64_t StreamHelpers::add(std::function<void()> give_up) {
  const std::lock_guard<std::mutex> lock(mutex_);
  running_.emplace(++last_, std::move(give_up));
  return last_;
}

void StreamHelpers::remove(uint64_t id) {
  std::unique_lock<std::mutex> lock(mutex_);
  auto last = std::move(running_.at(id));
  lock.unlock();
  last = nullptr;  // it may be the last that holds a group
  lock.lock();
  running_.erase(id);
  changed_.notify_all();
}

void StreamHelpers::end() {
  if (isInBadFork()) {
    return;  // the threads are the parent's
  }
  std::vector<std::function<void()>> all;
  std::unique_lock<std::mutex> lock(mutex_);
  for (const auto& [id, give_up] : running_) {
    if (give_up) {
      all.push_back(give_up);
    }
  }
  lock.unlock();
  for (const auto& give_up : all) {
    give_up();
  }
  all.clear();
  lock.lock();
  changed_.wait(lock, [this] { return running_.empty(); });
}

}  // namespace openreg::distributed
