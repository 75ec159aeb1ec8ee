// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "process.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "device.h"
#include "stream.h"

namespace openreg::driver {
namespace {

std::atomic<bool> is_forked{false};

void in_child() { is_forked.store(true, std::memory_order_relaxed); }

// A kernel that never ends must not keep the process from ending.
constexpr std::chrono::seconds kExitPatience{5};

void at_exit() {
  // A kernel that calls exit() cannot wait for itself.
  if (forked() || Stream::current() != nullptr) return;
  if (Devices* devices = Devices::if_used()) devices->drain(std::chrono::steady_clock::now() + kExitPatience);
}

}  // namespace

void note_use() {
  static const bool once = [] {
    pthread_atfork(nullptr, nullptr, in_child);
    std::atexit(at_exit);
    return true;
  }();
  static_cast<void>(once);
}

bool forked() noexcept { return is_forked.load(std::memory_order_relaxed); }

}  // namespace openreg::driver
