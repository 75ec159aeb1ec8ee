// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/alias/Alias.h"

#include <openreg.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include "host/alias/Queue.h"
#include "runtime/Capturing.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Stream.h"

namespace openreg {
namespace {

/// Keeps the warnings of a function, to be given again on a thread that has somebody listening.
class Warnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override { kept_.push_back(warning); }
  void give() const {
    for (const c10::Warning& warning : kept_) {
      c10::warn(warning);
    }
  }

 private:
  std::vector<c10::Warning> kept_;
};

/// A function that runs on a stream's thread while the host waits. Lives on the host's stack.
class AwaitedFunction {
 public:
  AwaitedFunction(c10::function_ref<void()> fn, int threads) : fn_(fn), threads_(threads) {}

  static void run(void* self) noexcept { static_cast<AwaitedFunction*>(self)->run(); }

  /// Most functions are over sooner than a thread that sleeps is awake, so it looks first, but lets the function's threads run.
  void wait() {
    constexpr std::chrono::microseconds kPatience{10};
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      if (state_.load(std::memory_order_acquire) == State::kDone) {
        return;
      }
      std::this_thread::yield();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    State running = State::kRunning;
    if (state_.compare_exchange_strong(running, State::kAwaited)) {
      finished_.wait(lock, [this] { return state_.load() == State::kDone; });
    }
  }

  /// Warns of and throws what the function did.
  void report() {
    warnings_.give();
    if (error_ != nullptr) {
      std::rethrow_exception(std::move(error_));
    }
  }

 private:
  void run() noexcept {
    try {
      const c10::WarningUtils::WarningHandlerGuard listening(&warnings_);
      const CpuKernelScope scope(threads_);
      fn_();
    } catch (...) {
      error_ = std::current_exception();
    }
    // Once the host sees this, the object is gone: it is the last access, or under the lock that the host takes.
    State running = State::kRunning;
    if (state_.compare_exchange_strong(running, State::kDone)) {
      return;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    state_ = State::kDone;
    finished_.notify_one();
  }

  enum class State {
    kRunning,
    kAwaited,  // the host sleeps
    kDone,
  };

  c10::function_ref<void()> fn_;
  const int threads_;
  Warnings warnings_;
  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::atomic<State> state_{State::kRunning};
};

// Devices of one driver are alike in this; asking each time would cost more than a small kernel.
int host_access() {
  static const int access = device_properties(current_device()).hostAccessible;
  return access;
}

std::unique_ptr<HostTensors> tensors_of_device() {
  if (native::kernels_reach_memory()) {
    return std::make_unique<HostAliases>();
  }
  return std::make_unique<HostTensors>();
}

[[maybe_unused]] const bool kPutInPlace = [] {
  host_tensors = &tensors_of_device;
  return true;
}();

}  // namespace

bool native::kernels_reach_memory() { return host_access() != 0; }

bool native::host_reaches_memory() { return host_access() == 2; }

void HostAliases::run(c10::function_ref<void()> fn) { run_on_worker(fn); }

// To the end of the storage: a tensor that is resized may stay in it. If it doesn't fit, it takes memory of the host.
c10::Storage HostAliases::reach(const Range& range) {
  const size_t begin = std::min(static_cast<size_t>(range.begin), range.device.nbytes());
  auto* const data = static_cast<char*>(const_cast<void*>(range.device.data()));
  return c10::Storage(c10::Storage::use_byte_size_t(), range.device.nbytes() - begin,
      c10::DataPtr(data == nullptr ? nullptr : data + begin, at::kCPU), c10::GetCPUAllocator(), /*resizable=*/true);
}

at::Tensor host_alias(const at::Tensor& tensor, bool written) {
  HostAliases tensors;
  tensors.add(tensor, written);
  tensors.fetch();
  return tensors.on_host(tensor);
}

void run_on_worker(c10::function_ref<void()> fn) {
  check_not_capturing("code of the host that the caller waits for");
  AwaitedFunction awaited(fn, at::get_num_threads());
  OPENREG_CHECK_LAUNCH(orLaunchKernel(getCurrentStream().stream(), &AwaitedFunction::run, &awaited));
  awaited.wait();
  awaited.report();
}

void queue_on_worker(std::function<void()> fn) {
  struct Task : native::QueuedTask {
    explicit Task(std::function<void()> what) : fn(std::move(what)) {}
    void operator()() {
      const CpuKernelScope scope(threads);
      fn();
    }
    std::function<void()> fn;
    int threads = at::get_num_threads();
  };
  native::queue(std::make_unique<Task>(std::move(fn)));
}

}  // namespace openreg
