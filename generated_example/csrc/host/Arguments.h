// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <optional>

#include <ATen/core/Tensor.h>
#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

// Reads the arguments of a boxed call: which device it is for, and what it writes.

namespace openreg {

/// Whether the operator writes its argument `index`, or tensors of it if it is a list. Operators that write without their
/// schemas saying so are known by name.
bool is_written(const c10::OperatorHandle& op, size_t index);

/// Throws as PyTorch does if the call has a generator of the device and tensors of others alone: the generator brings it here,
/// and draws for its own device.
void check_generator(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// The device of a call, with its index: that of its tensors, else the one it asks for, else the current one. Throws as
/// PyTorch does if its tensors are on several, where a 0-dim CPU tensor counts as a number.
c10::Device device_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// Whether a tensor is more than memory with sizes and strides: sparse, nested or quantized.
bool is_compound(const at::Tensor& tensor);

/// The device of that index; without one, or with -1, the current device.
c10::Device resolve_device(std::optional<c10::Device> device = std::nullopt);

/// Leaves out arguments that the CPU's kernel does not read, and yet checks: of batch normalization in eval the saved statistics,
/// which the CPU's forward does not have and that of other devices has in a wider dtype.
void leave_out_unread(const c10::OperatorHandle& op, torch::jit::Stack* stack);

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

/// fn(tensor) in the place of each tensor in a value.
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
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list = value.toOptionalTensorList().copy();
    for (size_t i = 0; i < list.size(); ++i) {
      const std::optional<at::Tensor> tensor = list.get(i);
      list.set(i, tensor.has_value() ? std::optional(fn(*tensor)) : std::nullopt);
    }
    return list;
  }
  return value;
}

}  // namespace openreg
