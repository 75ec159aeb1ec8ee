// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Fallback.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <ATen/core/Generator.h>
#include <ATen/core/op_registration/adaption.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "host/Tensors.h"
#include "runtime/Functions.h"
#include "runtime/Generator.h"

namespace openreg {
namespace {

constexpr FallbackKind kSpecKind = FallbackKind::kCpu;  // `fallback` in openreg.yaml

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
  TORCH_CHECK_NOT_IMPLEMENTED(op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU), op.operator_name(),
      " has no kernel for openreg, and the CPU has none to fall back to. Add one under `ops:` in openreg.yaml: `",
      name_in_spec(op), ": native`");
}

/// Whether a schema marks an argument as written, or a list whose tensors all are.
bool is_marked(const c10::Argument& argument) {
  const c10::AliasInfo* const info = argument.alias_info();
  return info != nullptr &&
      (info->isWrite() || std::ranges::any_of(info->containedTypes(), [](const auto& item) { return item.isWrite(); }));
}

/// Arguments that may be on the host beside tensors of the device, on PyTorch's own devices too: indices, lengths and sizes.
bool may_be_on_host(const c10::OperatorHandle& op, size_t index, const c10::IValue& value) {
  const std::string& name = op.operator_name().name;
  const bool lengths = name.starts_with("aten::_ctc_loss") || name == "aten::_pack_padded_sequence";
  return value.isOptionalTensorList() || (lengths && op.schema().arguments()[index].name().ends_with("lengths")) ||
      name == "aten::_nested_view_from_buffer" || name == "aten::_nested_from_padded";
}

/// The device of a call: that of its tensors, else the one it asks for, else the current one. Throws as PyTorch does if its
/// tensors are on several, where a 0-dim CPU tensor counts as a number: the CPU's kernel would take all of them.
c10::Device device_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto values = torch::jit::last(stack, op.schema().arguments().size());
  std::optional<c10::Device> common, asked;
  for (const c10::IValue& value : values) {
    asked = value.isDevice() && value.toDevice().is_privateuseone() ? value.toDevice() : asked;
    each_tensor(value, [&common](const at::Tensor& tensor) { common = !common.has_value() && tensor.is_privateuseone() ? tensor.device() : common; });
  }
  if (!common.has_value()) {
    return {c10::DeviceType::PrivateUse1, resolve_device_index(asked.has_value() ? asked->index() : c10::DeviceIndex{-1})};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const c10::Argument& argument = op.schema().arguments()[i];
    each_tensor(values[i], [&](const at::Tensor& tensor) {
      const bool on_host = tensor.is_cpu() && !is_marked(argument) && (tensor.dim() == 0 || may_be_on_host(op, i, values[i]));
      if (tensor.device() != *common && !on_host) {
        c10::impl::common_device_check_failure(*common, tensor, op.operator_name().name.c_str(), argument.name().c_str());
      }
    });
  }
  return *common;
}

/// Replaces the device's generator by one of the CPU that is derived from it.
void derive_generator(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& arguments = op.schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue& value = (*stack)[stack->size() - arguments.size() + i];
    if (arguments[i].name() == "generator") {
      value = cpu_generator(value.toOptional<at::Generator>(), current_device(), kNumbersPerDraw);
    }
  }
}

/// The CPU's kernel on the host's tensors; takes the results home.
CopiedBytes run_on(HostTensors& tensors, const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& arguments = op.schema().arguments();
  torch::jit::Stack host = torch::jit::pop(*stack, arguments.size());
  for (size_t i = 0; i < host.size(); ++i) {
    tensors.add(host[i], is_written(op, i), /*read=*/!arguments[i].is_out());
  }
  tensors.fetch();
  for (c10::IValue& argument : host) {
    argument = tensors.on_host(argument);
  }
  tensors.run([&] { (*cpu_kernel_call)(op, &host); });
  tensors.update();
  for (const c10::IValue& result : host) {
    stack->push_back(tensors.on_device(result));
  }
  return {tensors.bytes_to_host(), tensors.bytes_to_device()};
}

/// Each run of a CPU's kernel comes here.
void run_watched(const HostRun& call, c10::function_ref<CopiedBytes()> run) {
  const c10::DeviceGuard guard(device_of(call.op, *call.stack));
  (*watch_host_run)(call, [&] {
    derive_generator(call.op, call.stack);
    return run();
  });
}

void refuse_or_run(const HostRun& call, c10::function_ref<CopiedBytes()> run) {
  TORCH_CHECK_NOT_IMPLEMENTED(call.fell_back || fallback_override() != FallbackKind::kNone, call.op.operator_name(),
      " is computed on the host, on copies of its arguments, and OPENREG_FALLBACK is none. Write its kernel in csrc/aten/native");
  run();
}

/// What PyTorch calls for each operator that has no kernel here.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { fall_back(op, stack, kSpecKind); }

}  // namespace

constinit WatchHostRun* watch_host_run = &refuse_or_run;
constinit CallCpuKernel* cpu_kernel_call = [](const c10::OperatorHandle& op, torch::jit::Stack* stack) { op.callBoxed(stack); };

std::optional<FallbackKind> fallback_override() {
  static const std::optional<FallbackKind> kind = read_override();
  return kind;
}

// In training, batch normalization writes the running statistics; its schemas don't say so.
bool is_written(const c10::OperatorHandle& op, size_t index) {
  const c10::Argument& argument = op.schema().arguments()[index];
  const auto& name = op.operator_name().name;
  return is_marked(argument) || ((name == "aten::native_batch_norm" || name == "aten::batch_norm_update_stats") && argument.name().starts_with("running_"));
}

void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack, FallbackKind kind) {
  kind = fallback_override().value_or(kind);
  if (kind == FallbackKind::kNone) {
    refuse(op);
  }
  check_can_fall_back(op);
  const std::unique_ptr<HostTensors> tensors = kind == FallbackKind::kCopy ? std::make_unique<HostTensors>() : host_tensors();
  run_watched({op, stack, /*fell_back=*/true, tensors->copies()}, [&] { return run_on(*tensors, op, stack); });
}

void fall_back_on_copies(const c10::OperatorHandle& op, torch::jit::Stack* stack, CpuRun* run) {
  if (fallback_override().value_or(kSpecKind) == FallbackKind::kNone) {
    refuse(op);
  }
  run_watched({op, stack, /*fell_back=*/true, /*copies=*/true}, [&] { return run(op, stack); });
}

void run_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::unique_ptr<HostTensors> tensors = host_tensors();
  run_watched({op, stack, /*fell_back=*/false, tensors->copies()}, [&] { return run_on(*tensors, op, stack); });
}

void cpu_detour(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  fall_back(op, stack, kSpecKind == FallbackKind::kNone ? FallbackKind::kCpu : kSpecKind);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }

}  // namespace openreg
