// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Fallback.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <ATen/core/Generator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/FunctionRef.h>
#include <torch/library.h>

#include "host/Arguments.h"
#include "host/Run.h"
#include "host/Tensors.h"
#include "host/Work.h"
#include "runtime/Capturing.h"
#include "runtime/Generator.h"

namespace openreg {
namespace {

constexpr FallbackKind kSpecKind = FallbackKind::kCpu;  // `fallback` in openreg.yaml

/// More numbers than any kernel draws for one value; the generator has to move past all it may have used.
constexpr uint64_t kDrawsPerValue = 16;

std::optional<FallbackKind> read_override() {
  const char* text = std::getenv("OPENREG_FALLBACK");
  const std::string_view word = text == nullptr ? "" : text;
  if (word.empty()) {
    return std::nullopt;
  }
  constexpr std::array<std::pair<std::string_view, FallbackKind>, 4> kWords{{{"none", FallbackKind::kNone}, {"cpu", FallbackKind::kCpu}, {"copy", FallbackKind::kCopy}, {"alias", FallbackKind::kAlias}}};
  for (const auto& [known, kind] : kWords) {
    if (word == known) {
      return kind;
    }
  }
  TORCH_CHECK_VALUE(false, "OPENREG_FALLBACK is '", word, "'; it takes none, cpu, copy or alias");
}

/// "add.Tensor": as openreg.yaml has it.
std::string name_in_spec(const c10::OperatorHandle& op) {
  const std::string name = c10::toString(op.operator_name());
  return name.substr(name.find("::") + 2);
}

[[noreturn]] void refuse(const c10::OperatorHandle& op) {
  const std::string name = name_in_spec(op);
  const bool asked = fallback_override() == FallbackKind::kNone;
  TORCH_CHECK_NOT_IMPLEMENTED(false, op.operator_name(), " has no kernel for openreg",
      asked ? ", and OPENREG_FALLBACK is none" : "", ". Add one under `ops:` in openreg.yaml, such as `", name,
      ": native`, or let it run on the CPU with `", name, ": cpu_fallback`");
}

void check_can_fall_back(const c10::OperatorHandle& op) {
  constexpr const char* kNowhere =
      " has no kernel for openreg, and the CPU has none to fall back to. Add one under `ops:` in openreg.yaml: `";
  TORCH_CHECK_NOT_IMPLEMENTED(op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU), op.operator_name(),
      kNowhere, name_in_spec(op), ": native`");
}

/// How many values a random operator may draw, at most.
uint64_t drawn_values(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const size_t begin = stack.size() - arguments.size();
  uint64_t values = 1;
  uint64_t samples = 1;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::IValue& value = stack[begin + i];
    if (value.isTensor() && value.toTensor().defined()) {
      values = std::max(values, static_cast<uint64_t>(value.toTensor().numel()));
    } else if (arguments[i].name() == "num_samples") {
      samples = static_cast<uint64_t>(std::max<int64_t>(value.toInt(), 1));
    }
  }
  return values * samples;
}

/// How many numbers a call may take from its generator; 0 if it has none.
uint64_t draws_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const bool random = std::any_of(arguments.begin(), arguments.end(), [](const auto& each) { return each.name() == "generator"; });
  return random ? drawn_values(op, stack) * kDrawsPerValue : 0;
}

/// Whether the current stream is captured: then the call becomes a node of the graph, or throws c10::AcceleratorError if it needs copies.
bool is_captured(const c10::OperatorHandle& op, torch::jit::Stack* stack, bool copies) {
  if (!is_current_stream_capturing()) {
    return false;
  }
  if (copies) {
    const std::string what = c10::str("the CPU's kernel of ", op.operator_name(), ", which needs copies of device memory");
    check_not_capturing(what.c_str());
  }
  (*capture_cpu_kernel)(op, stack, draws_of(op, *stack));
  return true;
}

/// Gives the CPU kernel of a random operator a generator that is derived from the device's generator.
void derive_generator(const c10::OperatorHandle& op, torch::jit::Stack* stack, c10::DeviceIndex device) {
  const auto& arguments = op.schema().arguments();
  const size_t begin = stack->size() - arguments.size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() != "generator") {
      continue;
    }
    c10::IValue& value = (*stack)[begin + i];
    const auto generator = value.isNone() ? std::nullopt : std::optional<at::Generator>(value.toGenerator());
    value = cpu_generator(generator, device, drawn_values(op, *stack) * kDrawsPerValue);
  }
}

/// What PyTorch calls for each operator that has no kernel here.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { fall_back(op, stack, kSpecKind); }

/// The CPU's kernel on the host's tensors; takes the results home. Returns the bytes that it copied to the host and back.
std::pair<uint64_t, uint64_t> run(const c10::OperatorHandle& op, torch::jit::Stack* stack, HostTensors& tensors) {
  const size_t count = op.schema().arguments().size();
  const auto arguments = torch::jit::last(*stack, count);
  for (size_t i = 0; i < count; ++i) {
    tensors.add(arguments[i], is_written(op, i), /*read=*/!op.schema().arguments()[i].is_out());
  }
  tensors.fetch();
  torch::jit::Stack host;
  for (const c10::IValue& argument : arguments) {
    host.push_back(tensors.on_host(argument));
  }
  tensors.run([&] { (*cpu_kernel_call)(op, &host); });
  tensors.update();
  torch::jit::drop(*stack, count);
  for (const c10::IValue& result : host) {
    stack->push_back(tensors.on_device(result));
  }
  return {tensors.bytes_to_host(), tensors.bytes_to_device()};
}

/// Each call that falls back comes here. `run` returns the bytes that it copied to the host and back.
void fall_back_by(const c10::OperatorHandle& op, torch::jit::Stack* stack, FallbackKind kind, bool copies,
    c10::function_ref<std::pair<uint64_t, uint64_t>()> run) {
  if (kind == FallbackKind::kNone) {
    refuse(op);
  }
  check_generator(op, *stack);
  leave_out_unread(op, stack);
  const c10::Device device = device_of(op, *stack);
  const c10::DeviceGuard guard(device);
  if (logs_fallbacks()) {
    log_once(c10::toString(op.operator_name()),
        copies ? " has no kernel for openreg and runs on the CPU, on copies of its arguments"
               : " has no kernel for openreg and runs on the CPU, on the device's memory");
  }
  HostCostScope cost({.op = &op.operator_name(), .aliased = !copies});
  if (is_captured(op, stack, copies)) {
    return;
  }
  derive_generator(op, stack, device.index());
  if (copies) {
    cost.wait_for_earlier_work();
  }
  const auto [to_host, to_device] = run();
  cost.copied(to_host, to_device);
}

}  // namespace

std::optional<FallbackKind> fallback_override() {
  static const std::optional<FallbackKind> kind = read_override();
  return kind;
}

bool logs_fallbacks() {
  static const bool logs = [] {
    const char* text = std::getenv("OPENREG_LOG_FALLBACK");
    return text == nullptr ? false : std::string_view(text) != "0";
  }();
  return logs;
}

void log_once(const std::string& op, const char* what) {
  static std::mutex mutex;
  static auto& seen = *new std::unordered_set<std::string>();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!seen.insert(op).second) {
      return;
    }
  }
  TORCH_WARN(op, what);
}

void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack, FallbackKind kind) {
  kind = fallback_override().value_or(kind);
  if (kind != FallbackKind::kNone) {
    check_can_fall_back(op);
  }
  const std::unique_ptr<HostTensors> tensors = kind == FallbackKind::kCopy ? std::make_unique<HostTensors>() : host_tensors();
  fall_back_by(op, stack, kind, tensors->copies(), [&] { return run(op, stack, *tensors); });
}

void fall_back_on_copies(const c10::OperatorHandle& op, torch::jit::Stack* stack, CpuRun* run) {
  fall_back_by(op, stack, fallback_override().value_or(kSpecKind), /*copies=*/true, [&] { return run(op, stack); });
}

void run_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  leave_out_unread(op, stack);
  const c10::DeviceGuard guard(device_of(op, *stack));
  const std::unique_ptr<HostTensors> tensors = host_tensors();
  if (is_captured(op, stack, tensors->copies())) {
    return;
  }
  std::optional<HostWork> work;
  if (tensors->copies()) {
    work.emplace(HostCode::kCpuKernel, &op.operator_name());
  }
  const auto [to_host, to_device] = run(op, stack, *tensors);
  if (work.has_value()) {
    work->copied(to_host, to_device);
  }
}

void cpu_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  fall_back(op, stack, kSpecKind == FallbackKind::kNone ? FallbackKind::kCpu : kSpecKind);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }

}  // namespace openreg
