// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#include "graphs/Capture.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>

#include <ATen/record_function.h>
#include <c10/util/Exception.h>

#include "runtime/Exception.h"
#include "runtime/Stream.h"

namespace openreg {

// --- Names

namespace {

thread_local const char* current_operator = nullptr;  // "add_kernel" while aten::add runs, during captures

/// Never freed: names of kernels outlive their graph in profiles.
const char* keep(std::string name) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_set<std::string>();
  const std::lock_guard<std::mutex> lock(mutex);
  return names.insert(std::move(name)).first->c_str();
}

struct Outer : at::ObserverContext {
  explicit Outer(const char* name) : name(name) {}
  const char* name;
};

at::CallbackHandle watch_operators() {
  const auto enter = [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
    auto outer = std::make_unique<Outer>(current_operator);
    const std::string name = function.name();
    const size_t colons = name.rfind("::");
    current_operator = keep((colons == std::string::npos ? name : name.substr(colons + 2)) + "_kernel");
    return outer;
  };
  const auto leave = [](const at::RecordFunction&, at::ObserverContext* context) {
    current_operator = static_cast<Outer*>(context)->name;
  };
  return at::addGlobalCallback(at::RecordFunctionCallback(enter, leave).scopes({at::RecordScope::FUNCTION}));
}

/// Captures that have begun.
struct Underway {
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<GraphDraws>> draws;
  int count = 0;
  at::CallbackHandle watching = 0;
};

Underway& underway() {
  static auto& instance = *new Underway();
  return instance;
}

}  // namespace

void name_captured_kernel(const char* name) noexcept {
  name = name == nullptr ? current_operator : keep(name);
  if (name != nullptr && orActivityName(name) != orSuccess) {
    orGetLastError();
  }
}

CaptureScope::CaptureScope() {
  Underway& all = underway();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.count++ == 0) {
    all.watching = watch_operators();
  }
  detail::captures.fetch_add(1);
}

CaptureScope::~CaptureScope() {
  Underway& all = underway();
  const std::lock_guard<std::mutex> lock(all.mutex);
  detail::captures.fetch_sub(1);
  all.draws.erase(id_);
  if (--all.count == 0) {
    at::removeCallback(all.watching);
  }
}

// --- Random numbers

void CaptureScope::draw_from(uint64_t id, std::shared_ptr<GraphDraws> draws) {
  Underway& all = underway();
  const std::lock_guard<std::mutex> lock(all.mutex);
  id_ = id;
  all.draws[id] = std::move(draws);
}

CapturedDraw GraphDraws::take(std::shared_ptr<PhiloxState> state, uint64_t increment) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto source = std::find_if(sources_.begin(), sources_.end(), [&](const Source& each) { return each.state == state; });
  if (source == sources_.end()) {
    const auto start = std::make_shared<ReplayStart>();
    source = sources_.insert(source, {std::move(state), start});
  }
  const uint64_t offset = source->drawn;
  source->drawn += PhiloxState::rounded(increment);
  return {source->start, offset};
}

void GraphDraws::launch() {
  struct Begin {
    std::shared_ptr<ReplayStart> start;
    ReplayStart values;
  };
  const auto begin = [](void* argument) {
    const std::unique_ptr<Begin> task(static_cast<Begin*>(argument));
    *task->start = task->values;
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Source& source : sources_) {
    const auto [seed, offset] = source.state->take(source.drawn);
    auto task = std::make_unique<Begin>(Begin{source.start, {seed, offset}});
    OPENREG_CHECK_LAUNCH(orLaunchKernel(getCurrentStream().stream(), begin, task.get()));
    static_cast<void>(task.release());
  }
}

CapturedDraw captured_draw(const std::optional<at::Generator>& generator, c10::DeviceIndex device, uint64_t increment) {
  std::shared_ptr<GraphDraws> draws;
  {
    Underway& all = underway();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.draws.find(detail::ask_current_capture());
    TORCH_CHECK(found != all.draws.end(), "openreg: random numbers for a graph that is not captured by OpenRegGraph");
    draws = found->second;
  }
  return draws->take(philox_state_of(generator, device), increment);
}

}  // namespace openreg
