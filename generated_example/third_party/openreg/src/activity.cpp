// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "activity.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <utility>

namespace openreg::driver {
namespace {

// More than a profile of minutes has; who records without reading loses what comes after.
constexpr std::size_t kMost = std::size_t{8} << 20;

struct Records {
  std::mutex mutex;
  std::deque<Activity> kept;
  std::size_t lost = 0;
};

// Never destroyed: streams outlive main().
Records& records() {
  static auto& instance = *new Records;
  return instance;
}

thread_local std::uint64_t current_correlation = 0;
thread_local const char* next_name = nullptr;

int thread_number() {
  thread_local const int number = static_cast<int>(syscall(SYS_gettid));
  return number;
}

}  // namespace

std::uint64_t Activities::now() noexcept {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

What Activities::named(What what) noexcept {
  if (what.kind == orActivityKernel && next_name != nullptr) what.name = std::exchange(next_name, nullptr);
  return what;
}

std::unique_ptr<Activity> Activities::begin(const What& what, int device, int stream) {
  const std::uint64_t time = now();
  auto activity = std::make_unique<Activity>();
  activity->kind = what.kind;
  activity->name = what.name;
  activity->copy = what.copy;
  activity->pageable = what.pageable ? 1 : 0;
  activity->bytes = what.bytes;
  activity->device = device;
  activity->stream = stream;
  activity->thread = thread_number();
  activity->correlation = current_correlation;
  activity->queueStart = time;
  activity->queueEnd = now();
  return activity;
}

void Activities::finish(const Activity& activity) noexcept {
  Records& all = records();
  std::lock_guard lock(all.mutex);
  try {
    if (all.kept.size() < kMost) {
      all.kept.push_back(activity);
      return;
    }
  } catch (const std::bad_alloc&) {
  }
  ++all.lost;
}

std::size_t Activities::read(Activity* activities, std::size_t capacity, std::size_t* lost) {
  Records& all = records();
  std::lock_guard lock(all.mutex);
  const std::size_t count = std::min(capacity, all.kept.size());
  std::copy_n(all.kept.begin(), count, activities);
  all.kept.erase(all.kept.begin(), all.kept.begin() + static_cast<std::ptrdiff_t>(count));
  *lost = std::exchange(all.lost, 0);
  return count;
}

void Activities::correlate(std::uint64_t correlation) noexcept { current_correlation = correlation; }

void Activities::name(const char* name) noexcept { next_name = name; }

}  // namespace openreg::driver
