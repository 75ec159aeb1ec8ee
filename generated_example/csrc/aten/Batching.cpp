// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `custom_ops` in the spec changes it, then `openreg-gen generate`.
#include "aten/Batching.h"

#include <optional>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/functorch/DynamicLayer.h>
#include <ATen/functorch/PlumbingHelper.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/stack.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace openreg {
namespace {

using at::functorch::makeBatched;
using at::functorch::unwrapTensorAtLevel;

int64_t current_level(const c10::OperatorHandle& op) {
  const auto layer = at::functorch::maybeCurrentDynamicLayer();
  TORCH_CHECK(layer.has_value(), op.schema().name(), ": a tensor of torch.vmap was used outside of it");
  return layer->layerId();
}

/// Whether an argument is written, and so must be batched if anything is.
bool written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

/// A tensor's value in number `index` of the batch: a view, or itself if it isn't batched. Tells the size of the batch.
at::Tensor slice(const at::Tensor& tensor, int64_t level, int64_t index, std::optional<int64_t>& batch) {
  if (!tensor.defined()) {
    return tensor;
  }
  const auto [value, dim] = unwrapTensorAtLevel(tensor, level);
  if (!dim.has_value()) {
    return value;
  }
  batch = value.size(*dim);
  return *batch == 0 ? value : value.select(*dim, index);
}

/// The same for an argument of any type.
c10::IValue slice(const c10::IValue& value, int64_t level, int64_t index, std::optional<int64_t>& batch) {
  if (value.isTensor()) {
    return slice(value.toTensor(), level, index, batch);
  }
  if (value.isTensorList()) {
    std::vector<at::Tensor> list = value.toTensorVector();
    for (at::Tensor& tensor : list) {
      tensor = slice(tensor, level, index, batch);
    }
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      list.push_back(tensor.has_value() ? std::optional(slice(*tensor, level, index, batch)) : std::nullopt);
    }
    return list;
  }
  return value;
}

/// One result of all runs as one: tensors stacked, lists of them position by position.
c10::IValue stacked(const c10::OperatorHandle& op, const std::vector<c10::IValue>& results, int64_t level) {
  const auto together = [&](auto&& tensor_of) {
    std::vector<at::Tensor> tensors;
    for (const c10::IValue& result : results) {
      tensors.push_back(tensor_of(result));
    }
    return tensors[0].defined() ? makeBatched(at::stack(tensors), 0, level) : tensors[0];
  };
  if (results[0].isTensor()) {
    return together([](const c10::IValue& result) { return result.toTensor(); });
  }
  TORCH_CHECK(results[0].isTensorList(), op.schema().name(),
      " returns something else than tensors, which torch.vmap can't batch");
  std::vector<at::Tensor> list;
  for (size_t i = 0; i < results[0].toTensorVector().size(); ++i) {
    list.push_back(together([i](const c10::IValue& result) { return result.toTensorVector().at(i); }));
  }
  return list;
}

}  // namespace

void batch_elementwise(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const int64_t level = current_level(op);
  const auto arguments = torch::jit::last(*stack, op.schema().arguments().size());
  int64_t rank = 0;
  at::native::ResultTypeState types;
  for (const c10::IValue& argument : arguments) {
    if (argument.isTensor()) {
      rank = std::max(rank, argument.toTensor().dim());
      types = at::native::update_result_type_state(argument.toTensor(), types);
    }
  }
  // A batch of numbers has a dimension, but counts in type promotion as the numbers do: all get the common dtype here.
  const at::ScalarType dtype = at::native::result_type(types);
  const c10::impl::ExcludeDispatchKeyGuard no_batches(c10::DispatchKey::FuncTorchBatched);
  bool batched = false;
  const size_t first = stack->size() - arguments.size();
  for (size_t i = first; i < stack->size(); ++i) {
    if (!(*stack)[i].isTensor()) {
      continue;
    }
    auto [tensor, dim] = unwrapTensorAtLevel((*stack)[i].toTensor(), level);
    if (dim.has_value()) {
      batched = true;
      tensor = tensor.movedim(*dim, 0);
      while (tensor.dim() <= rank) {
        tensor = tensor.unsqueeze(1);
      }
    }
    (*stack)[i] = tensor.to(dtype);
  }
  op.callBoxed(stack);
  if (batched) {
    stack->back() = makeBatched(stack->back().toTensor(), 0, level);
  }
}

void batch_by_slices(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const int64_t level = current_level(op);
  const auto& schema = op.schema();
  const std::vector<c10::IValue> arguments = torch::jit::pop(*stack, schema.arguments().size());
  const c10::impl::ExcludeDispatchKeyGuard no_batches(c10::DispatchKey::FuncTorchBatched);
  std::optional<int64_t> batch;
  for (const c10::IValue& argument : arguments) {
    slice(argument, level, 0, batch);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::optional<int64_t> own;
    slice(arguments[i], level, 0, own);
    TORCH_CHECK(!batch.has_value() || own.has_value() || !written(schema.arguments()[i]), schema.name(), " writes '",
        schema.arguments()[i].name(), "', which torch.vmap does not batch, while it batches other arguments");
  }
  TORCH_CHECK(batch != 0, schema.name(), " runs for each of a batch, and this one is empty");
  std::vector<std::vector<c10::IValue>> results(schema.returns().size());
  for (int64_t index = 0; index < batch.value_or(1); ++index) {
    torch::jit::Stack one;
    for (const c10::IValue& argument : arguments) {
      one.push_back(slice(argument, level, index, batch));
    }
    op.callBoxed(&one);
    for (size_t i = 0; i < one.size(); ++i) {
      results[i].push_back(std::move(one[i]));
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const c10::AliasInfo* alias = schema.returns()[i].alias_info();
    if (alias != nullptr && alias->isWrite()) {
      stack->push_back(arguments[0]);  // an in-place operator returns its first argument
    } else {
      stack->push_back(batch.has_value() ? stacked(op, results[i], level) : results[i][0]);
    }
  }
}

}  // namespace openreg
