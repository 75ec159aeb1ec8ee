// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "aten/FallbackDetours.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <ATen/core/List.h>
#include <ATen/core/op_registration/adaption.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/empty_strided.h>

#include "aten/HostAlias.h"

namespace openreg {
namespace {

/// Whether an argument is written, or a list of which all are.
bool is_written(const c10::Argument& argument) {
  const c10::AliasInfo* info = argument.alias_info();
  if (info == nullptr) {
    return false;
  }
  const auto& inner = info->containedTypes();
  return info->isWrite() || std::ranges::any_of(inner, [](const c10::AliasInfo& item) { return item.isWrite(); });
}

/// Calls fn(tensor) for each tensor in a value that is defined.
template <class Fn>
void each_tensor(const c10::IValue& value, Fn fn) {
  const auto visit = [&fn](const at::Tensor& tensor) {
    if (tensor.defined()) {
      fn(tensor);
    }
  };
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      visit(tensor);
    }
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      visit(tensor.value_or(at::Tensor()));
    }
  }
}

/// Replaces each tensor in a value by fn(tensor).
template <class Fn>
c10::IValue mapped(const c10::IValue& value, Fn fn) {
  if (value.isTensor()) {
    return fn(value.toTensor());
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list = value.toTensorList().copy();
    for (size_t i = 0; i < list.size(); ++i) {
      list.set(i, fn(list.get(i)));
    }
    return list;
  }
  return value;
}

uint64_t device_bytes(const c10::IValue& value) {
  uint64_t bytes = 0;
  each_tensor(value, [&bytes](const at::Tensor& tensor) { bytes += tensor.is_privateuseone() ? tensor.nbytes() : 0; });
  return bytes;
}

/// Operators that take tensors of the host beside those of the device, on PyTorch's own devices too.
bool takes_host_tensors(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames{"aten::_ctc_loss", "aten::_ctc_loss_backward",
      "aten::_index_put_impl_", "aten::_pack_padded_sequence", "aten::_unsafe_index", "aten::_unsafe_index_put",
      "aten::index", "aten::index_put", "aten::index_put_"};
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

bool returns_view(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.returns(), [](const c10::Argument& result) {
    return result.alias_info() != nullptr && !is_written(result);
  });
}

std::optional<c10::Device> common_device(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const size_t begin = stack.size() - arguments.size();
  std::optional<c10::Device> common;
  for (size_t i = 0; i < arguments.size(); ++i) {
    each_tensor(stack[begin + i], [&common](const at::Tensor& tensor) {
      if (!common.has_value() && tensor.is_privateuseone()) {
        common = tensor.device();
      }
    });
  }
  if (!common.has_value()) {
    return common;
  }
  const bool host_too = takes_host_tensors(op.operator_name().name);
  for (size_t i = 0; i < arguments.size(); ++i) {
    each_tensor(stack[begin + i], [&](const at::Tensor& tensor) {
      const bool number = tensor.is_cpu() && (tensor.dim() == 0 || host_too) && !is_written(arguments[i]);
      if (tensor.device() != *common && !number) {
        c10::impl::common_device_check_failure(
            *common, tensor, op.operator_name().name.c_str(), arguments[i].name().c_str());
      }
    });
  }
  return common;
}

std::vector<at::Tensor> written_tensors(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const size_t begin = stack.size() - arguments.size();
  std::vector<at::Tensor> result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (is_written(arguments[i])) {
      each_tensor(stack[begin + i], [&result](const at::Tensor& tensor) { result.push_back(tensor); });
    }
  }
  return result;
}

void run_on_copies(const c10::OperatorHandle& op, torch::jit::Stack* stack, FallbackScope& scope) {
  const auto& schema = op.schema();
  const auto arguments = torch::jit::last(*stack, schema.arguments().size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const uint64_t bytes = device_bytes(arguments[i]);
    scope.copied_to_host(bytes);
    scope.copied_to_device(is_written(schema.arguments()[i]) ? bytes : 0);
  }
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
  const auto results = torch::jit::last(*stack, schema.returns().size());
  for (size_t i = 0; i < results.size(); ++i) {
    scope.copied_to_device(schema.returns()[i].alias_info() == nullptr ? device_bytes(results[i]) : 0);
  }
}

void run_on_aliases(
    const c10::OperatorHandle& op, torch::jit::Stack* stack, c10::Device device, FallbackScope& scope) {
  const auto& schema = op.schema();
  const auto given = torch::jit::last(*stack, schema.arguments().size());
  HostAliases aliases;
  torch::jit::Stack host;
  for (size_t i = 0; i < given.size(); ++i) {
    host.push_back(aliases.alias(given[i], is_written(schema.arguments()[i])));
  }
  run_on_worker([&] { op.callBoxed(&host); });
  scope.copied_to_device(aliases.update());
  const auto home = [&](const at::Tensor& result) -> at::Tensor {
    if (!result.defined() || !result.is_cpu()) {
      return result;
    }
    if (const auto known = aliases.device_tensor(result)) {
      return *known;
    }
    TORCH_CHECK_NOT_IMPLEMENTED(result.layout() == at::kStrided, op.operator_name(),
        " has no kernel for openreg, and its result, of layout ", result.layout(), ", can't be on that device");
    const at::Tensor moved = at::empty_strided(result.sizes(), result.strides(), result.options().device(device));
    moved.copy_(result);
    scope.copied_to_device(result.nbytes());
    return moved;
  };
  torch::jit::drop(*stack, given.size());
  for (const c10::IValue& result : host) {
    stack->push_back(mapped(result, home));
  }
}

}  // namespace openreg
