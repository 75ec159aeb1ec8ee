// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "aten/OpRecorder.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

namespace openreg {
namespace {

using Counts = std::unordered_map<c10::OperatorName, uint64_t>;

struct Recorder {
  std::mutex mutex;
  std::vector<Counts> running;  // innermost last
  at::CallbackHandle callback = 0;
  std::unordered_map<c10::OperatorName, std::optional<c10::OperatorName>> served;  // what each counts as, if at all
};

Recorder& recorder() {
  static auto& instance = *new Recorder();
  return instance;
}

/// Whether the backend is asked for the operator: it has a kernel here, or PyTorch has no other way to it.
bool is_served(const c10::OperatorName& name) {
  const auto op = c10::Dispatcher::singleton().findOp(name);
  if (!op.has_value()) {
    return false;
  }
  using enum c10::DispatchKey;
  return op->hasKernelForDispatchKey(PrivateUse1) ||
      !(op->hasKernelForDispatchKey(CompositeImplicitAutograd) || op->hasKernelForDispatchKey(CompositeExplicitAutograd) ||
          op->hasKernelForDispatchKey(CompositeExplicitAutogradNonFunctional));
}

/// The operator that a spec lists for `name`: of a structured operator's functional and in-place forms the out= form, which
/// has the same arguments before its outputs.
c10::OperatorName listed(const c10::OperatorName& name) {
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto form = dispatcher.findSchema(name);
  using enum c10::DispatchKey;
  if (!form.has_value() || !form->hasKernelForDispatchKey(PrivateUse1) ||
      !form->hasKernelForDispatchKey(CompositeExplicitAutogradNonFunctional)) {
    return name;
  }
  const std::string base = name.name.ends_with('_') ? name.name.substr(0, name.name.size() - 1) : name.name;
  const auto& wanted = form->schema().arguments();
  for (const c10::OperatorName& other : dispatcher.getAllOpNames()) {
    const auto op = other.name == base ? dispatcher.findSchema(other) : std::nullopt;
    if (!op.has_value() || !op->hasKernelForDispatchKey(PrivateUse1)) {
      continue;
    }
    const auto& given = op->schema().arguments();
    const bool same = given.size() > wanted.size() && given[wanted.size()].is_out() &&
        std::equal(wanted.begin(), wanted.end(), given.begin(), [](const c10::Argument& a, const c10::Argument& b) {
          return a.name() == b.name() && *a.type() == *b.type();
        });
    if (same) {
      return other;
    }
  }
  return name;
}

bool on_device(const c10::IValue& value) {
  if (value.isTensor()) {
    return value.toTensor().defined() && value.toTensor().is_privateuseone();
  }
  if (value.isDevice()) {
    return value.toDevice().is_privateuseone();
  }
  if (value.isTensorList() || value.isOptionalTensorList()) {
    const auto items = value.toListRef();
    return std::ranges::any_of(items, [](const c10::IValue& item) { return on_device(item); });
  }
  return false;
}

std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  if (!name.has_value() || !std::ranges::any_of(function.inputs(), &on_device)) {
    return nullptr;
  }
  Recorder& state = recorder();
  const std::lock_guard<std::mutex> lock(state.mutex);
  auto known = state.served.find(*name);
  if (known == state.served.end()) {
    known = state.served.emplace(*name, is_served(*name) ? std::optional(listed(*name)) : std::nullopt).first;
  }
  if (known->second.has_value()) {
    for (Counts& counts : state.running) {
      ++counts[*known->second];
    }
  }
  return nullptr;
}

}  // namespace

void start_recording() {
  Recorder& state = recorder();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (state.running.empty()) {
    state.served.clear();  // a library may have been loaded since
    state.callback = at::addGlobalCallback(
        at::RecordFunctionCallback(&count).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  state.running.emplace_back();
}

std::vector<RecordedOp> stop_recording() {
  Recorder& state = recorder();
  std::vector<RecordedOp> result;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    TORCH_CHECK(!state.running.empty(), "no recording runs");
    for (const auto& [name, calls] : state.running.back()) {
      result.push_back({c10::toString(name), calls});
    }
    state.running.pop_back();
    if (state.running.empty()) {
      at::removeCallback(state.callback);
    }
  }
  std::ranges::sort(result, {}, &RecordedOp::op);
  return result;
}

}  // namespace openreg
