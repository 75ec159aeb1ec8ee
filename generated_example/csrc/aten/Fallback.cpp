// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "aten/Fallback.h"

#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include <ATen/core/Generator.h>
#include <ATen/ops/empty.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "runtime/Functions.h"
#include "runtime/Generator.h"

namespace openreg {
namespace {

/// More numbers than any kernel draws for one value; the generator has to move past all it may have used.
constexpr uint64_t kDrawsPerValue = 16;

/// The first tensor among the arguments that says where the operator runs; undefined if there is none.
at::Tensor first_device_tensor(torch::jit::Stack* stack, size_t arguments) {
  for (const c10::IValue& value : torch::jit::last(*stack, arguments)) {
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().is_privateuseone()) {
      return value.toTensor();
    }
  }
  return {};
}

bool logs_fallbacks() {
  static const bool logs = [] {
    const char* text = std::getenv("OPENREG_LOG_FALLBACK");
    return text == nullptr ? false : std::string_view(text) != "0";
  }();
  return logs;
}

void log_once(const c10::OperatorHandle& op) {
  static std::mutex mutex;
  static auto& seen = *new std::unordered_set<std::string>();
  const std::string name = c10::toString(op.operator_name());
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!seen.insert(name).second) {
      return;
    }
  }
  TORCH_WARN(name, " has no kernel for openreg and runs on the CPU, on copies of its arguments");
}

/// What PyTorch calls for each operator that has no kernel here.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (logs_fallbacks()) {
    log_once(op);
  }
  cpu_detour(op, stack);
}

}  // namespace

void cpu_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const at::Tensor tensor = first_device_tensor(stack, op.schema().arguments().size());
  const c10::OptionalDeviceGuard guard(at::device_of(tensor));
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

void random_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& arguments = op.schema().arguments();
  const at::Tensor tensor = first_device_tensor(stack, arguments.size());
  const c10::OptionalDeviceGuard guard(at::device_of(tensor));
  const size_t begin = stack->size() - arguments.size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() != "generator") {
      continue;
    }
    c10::IValue& value = (*stack)[begin + i];
    const auto generator = value.isNone() ? std::nullopt : std::optional<at::Generator>(value.toGenerator());
    const uint64_t values = tensor.defined() ? static_cast<uint64_t>(tensor.numel()) : 1;
    value = cpu_generator(
        generator, tensor.defined() ? tensor.device().index() : current_device(), values * kDrawsPerValue);
  }
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }

}  // namespace openreg
