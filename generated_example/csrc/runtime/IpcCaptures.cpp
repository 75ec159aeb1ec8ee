// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/Capturing.h"
#include "runtime/Ipc.h"

namespace openreg {
namespace {

/// What was to be let go of while something was captured: to wait for the device would end the capture.
struct KeptMemory {
  std::mutex mutex;
  std::vector<std::function<void()>> received;
};

KeptMemory& kept() {
  static auto* const instance = new KeptMemory();  // storages may outlive main()
  return *instance;
}

void let_go_unless_captured(std::function<void()> let_go) {
  std::vector<std::function<void()>> all;
  {
    const std::lock_guard<std::mutex> lock(kept().mutex);
    if (let_go != nullptr) {
      kept().received.push_back(std::move(let_go));
    }
    if (anything_captured()) {
      return;
    }
    all.swap(kept().received);
  }
  for (const std::function<void()>& each : all) {
    each();
  }
}

[[maybe_unused]] const bool ipc_waits_for_captures = [] {
  let_go_of_received = &let_go_unless_captured;
  return true;
}();

}  // namespace
}  // namespace openreg
