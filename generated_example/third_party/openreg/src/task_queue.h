// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "activity.h"

// The pending tasks of a stream, first in, first out, without a limit, in blocks of some dozens. One thread may
// push while another one takes: the pushing thread must publish the number of tasks, and the taking thread must not take more
// (Stream does both, with a counter). A block that was run dry is kept to be filled again, so a queue that does not grow
// allocates nothing.
namespace openreg::driver {

// In a cache line of its own: the stream's thread clears one while the next one is written.
struct alignas(64) Task {
  // What a task does decides whether device memory is opened for it (see Note [Isolation of device memory]).
  enum class Touches {
    kMemory,
    kNothing,
  };
  Touches touches = Touches::kNothing;
  std::function<void()> run;
  std::unique_ptr<Activity> activity;  // null while nobody records
};

class TaskQueue {
 public:
  TaskQueue() : front_(new Block), back_(front_) {}
  ~TaskQueue() {
    delete spare_.load();
    while (front_ != nullptr) delete std::exchange(front_, front_->next);
  }
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // Throws std::bad_alloc, and then nothing was pushed.
  void push(Task task) {
    if (pushed_ == kBlock) {
      Block* spare = spare_.exchange(nullptr, std::memory_order_acquire);
      back_->next = spare != nullptr ? spare : new Block;
      back_ = back_->next;
      pushed_ = 0;
    }
    back_->tasks[pushed_++] = std::move(task);
    // The thread that takes tasks wrote there last.
    __builtin_prefetch(&back_->tasks[std::min(pushed_ + 1, kBlock - 1)], 1);
  }

  // The oldest one; it stays in its place until it is overwritten by a later push.
  Task& take() {
    if (taken_ == kBlock) {
      Block* dry = std::exchange(front_, front_->next);
      dry->next = nullptr;
      delete spare_.exchange(dry, std::memory_order_acq_rel);
      taken_ = 0;
    }
    return front_->tasks[taken_++];
  }

 private:
  static constexpr std::size_t kBlock = 64;
  struct Block {
    std::array<Task, kBlock> tasks;
    Block* next = nullptr;
  };

  // For the taking and the pushing thread; in separate cache lines.
  alignas(64) Block* front_;
  std::size_t taken_ = 0;
  alignas(64) Block* back_;
  std::size_t pushed_ = 0;
  alignas(64) std::atomic<Block*> spare_{nullptr};
};

}  // namespace openreg::driver
