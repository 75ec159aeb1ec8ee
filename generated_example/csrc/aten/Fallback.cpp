// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "aten/Fallback.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <ATen/core/Generator.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "aten/FallbackDetours.h"
#include "aten/HostAlias.h"
#include "runtime/Functions.h"
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
  if (word == "none") {
    return FallbackKind::kNone;
  }
  if (word == "cpu") {
    return FallbackKind::kCpu;
  }
  TORCH_CHECK_VALUE(word == "alias", "OPENREG_FALLBACK is '", word, "'; it takes none, cpu or alias");
  return FallbackKind::kAlias;
}

/// Read once; a bad word throws at each use.
std::optional<FallbackKind> environment() {
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

void log_once(const c10::OperatorHandle& op, bool aliased) {
  static std::mutex mutex;
  static auto& seen = *new std::unordered_set<c10::OperatorName>();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!seen.insert(op.operator_name()).second) {
      return;
    }
  }
  TORCH_WARN(op.operator_name(), " has no kernel for openreg and runs on the CPU, on ",
      aliased ? "the device's memory" : "copies of its arguments");
}

/// "add.Tensor": as openreg.yaml has it.
std::string name_in_spec(const c10::OperatorHandle& op) {
  const std::string name = c10::toString(op.operator_name());
  return name.substr(name.find("::") + 2);
}

[[noreturn]] void refuse(const c10::OperatorHandle& op) {
  const std::string name = name_in_spec(op);
  const bool asked = environment() == FallbackKind::kNone;
  TORCH_CHECK_NOT_IMPLEMENTED(false, op.operator_name(), " has no kernel for openreg",
      asked ? ", and OPENREG_FALLBACK is none" : "", ". Add one under `ops:` in openreg.yaml, such as `", name,
      ": native`, or let it run on the CPU with `", name, ": cpu_fallback`");
}

void check_can_fall_back(const c10::OperatorHandle& op, bool aliased) {
  constexpr const char* kNowhere =
      " has no kernel for openreg, and the CPU has none to fall back to. Add one under `ops:` in openreg.yaml: `";
  TORCH_CHECK_NOT_IMPLEMENTED(op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU), op.operator_name(),
      kNowhere, name_in_spec(op), ": native`");
  constexpr const char* kView =
      " has no kernel for openreg and can't fall back to the CPU by copying: its result is a view, which has to "
      "share memory with its argument. Add a kernel under `ops:` in openreg.yaml: `";
  TORCH_CHECK_NOT_IMPLEMENTED(
      aliased || !returns_view(op.schema()), op.operator_name(), kView, name_in_spec(op), ": native`");
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

/// Gives the CPU kernel of a random operator a generator that is derived from the device's.
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

/// Holds back what a CPU kernel warns of, until it has run. Some kernels (mse_loss.out) resize an output twice, so
/// that it comes out as it was: the warning about that, which no user caused, is dropped.
class HeldWarnings final : public c10::WarningHandler {
 public:
  HeldWarnings(const c10::OperatorHandle& op, const torch::jit::Stack& stack)
      : outputs_(written_tensors(op, stack)), previous_(c10::WarningUtils::get_warning_handler()) {
    for (const at::Tensor& output : outputs_) {
      sizes_.push_back(output.sizes().vec());
    }
    c10::WarningUtils::set_warning_handler(this);
  }
  ~HeldWarnings() override {
    c10::WarningUtils::set_warning_handler(previous_);
    bool same = true;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      same = same && outputs_[i].sizes() == sizes_[i];
    }
    for (const c10::Warning& warning : held_) {
      if (!same || warning.msg().find("output with one or more elements was resized") == std::string::npos) {
        c10::warn(warning);
      }
    }
  }
  HeldWarnings(const HeldWarnings&) = delete;
  HeldWarnings& operator=(const HeldWarnings&) = delete;

  void process(const c10::Warning& warning) override { held_.push_back(warning); }

 private:
  std::vector<at::Tensor> outputs_;
  std::vector<std::vector<int64_t>> sizes_;
  c10::WarningHandler* previous_;
  std::vector<c10::Warning> held_;
};

/// What PyTorch calls for each operator that has no kernel here.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { fall_back(op, stack, kSpecKind); }

}  // namespace

void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack, FallbackKind kind) {
  kind = environment().value_or(kind);
  if (kind == FallbackKind::kNone) {
    refuse(op);
  }
  const std::optional<c10::Device> device = common_device(op, *stack);
  const c10::OptionalDeviceGuard guard(device);
  const bool aliased = kind == FallbackKind::kAlias && device.has_value() && aliasable();
  check_can_fall_back(op, aliased);
  if (logs_fallbacks()) {
    log_once(op, aliased);
  }
  FallbackScope scope(op.operator_name(), aliased);
  const HeldWarnings warnings(op, *stack);
  derive_generator(op, stack, device.has_value() ? device->index() : current_device());
  if (aliased) {
    run_on_aliases(op, stack, *device, scope);
  } else {
    run_on_copies(op, stack, scope);
  }
}

void cpu_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  fall_back(op, stack, kSpecKind == FallbackKind::kNone ? FallbackKind::kCpu : kSpecKind);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }

}  // namespace openreg
