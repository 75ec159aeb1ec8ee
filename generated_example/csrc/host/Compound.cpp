// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Compound.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <ATen/EmptyTensor.h>
#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/native/SparseTensorUtils.h>
#include <ATen/ops/_sparse_compressed_tensor_unsafe.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors.h>
#include <ATen/ops/empty.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include "host/Fallback.h"
#include "host/Tensors.h"
#include "runtime/Functions.h"

namespace openreg {
namespace {

/// Kernels that take apart, put together or say what a tensor is like, which their schemas do not show by an alias.
bool puts_together(std::string_view name) {
  constexpr std::array<std::string_view, 22> kNames{
      "aten::_coalesced_", "aten::_dimI", "aten::_dimV", "aten::_nested_tensor_size",
      "aten::_nested_tensor_storage_offsets", "aten::_nested_tensor_strides", "aten::_nnz",
      "aten::_sparse_coo_tensor_with_dims", "aten::_sparse_coo_tensor_with_dims_and_tensors",
      "aten::copy_sparse_to_sparse_", "aten::dense_dim", "aten::empty", "aten::empty_like", "aten::is_coalesced",
      "aten::q_scale", "aten::q_zero_point", "aten::qscheme", "aten::set_", "aten::sparse_dim",
      "aten::sparse_resize_", "aten::sparse_resize_and_clear_", "aten::zero_"};
  return std::ranges::find(kNames, name) != kNames.end();
}

/// The CPU's key for the kind of tensor that a call is about: of its first compound tensor, else of the layout it asks for.
c10::DispatchKey cpu_key(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  for (const c10::IValue& value : torch::jit::last(stack, op.schema().arguments().size())) {
    if (value.isTensor() && value.toTensor().defined() && is_compound(value.toTensor())) {
      const at::Tensor& tensor = value.toTensor();
      if (tensor.is_nested()) {
        return c10::DispatchKey::NestedTensorCPU;
      }
      if (tensor.is_quantized()) {
        return c10::DispatchKey::QuantizedCPU;
      }
      return tensor.is_sparse() ? c10::DispatchKey::SparseCPU : c10::DispatchKey::SparseCsrCPU;
    }
  }
  for (size_t i = 0; i < op.schema().arguments().size(); ++i) {
    const c10::IValue& value = torch::jit::peek(stack, i, op.schema().arguments().size());
    if (op.schema().arguments()[i].name() == "layout" && value.isInt()) {
      return value.toLayout() == at::kSparse ? c10::DispatchKey::SparseCPU : c10::DispatchKey::SparseCsrCPU;
    }
  }
  return c10::DispatchKey::QuantizedCPU;
}

/// The device that a call makes something on: the one it names, else that of its first tensor of this backend. Copies have
/// tensors of several devices.
c10::Device where_it_is(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  std::optional<c10::Device> found;
  for (const c10::IValue& value : torch::jit::last(stack, op.schema().arguments().size())) {
    if (value.isDevice() && value.toDevice().is_privateuseone()) {
      found = value.toDevice();
      break;
    }
    if (!found.has_value() && value.isTensor() && value.toTensor().is_privateuseone()) {
      found = value.toTensor().device();
    }
  }
  return {c10::DeviceType::PrivateUse1, resolve_device_index(found.has_value() ? found->index() : c10::DeviceIndex{-1})};
}

/// The bytes of a storage as a tensor.
at::Tensor bytes_of(const at::Tensor& tensor) {
  const c10::DispatchKey key = tensor.is_cpu() ? c10::DispatchKey::CPU : c10::DispatchKey::PrivateUse1;
  at::Tensor bytes = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(tensor.storage()), c10::DispatchKeySet(key), caffe2::TypeMeta::Make<uint8_t>());
  bytes.unsafeGetTensorImpl()->set_sizes_contiguous({static_cast<int64_t>(tensor.storage().nbytes())});
  return bytes;
}

at::Tensor quantized_over(const at::Tensor& memory, const at::QuantizerPtr& quantizer, const at::Tensor& layout, at::ScalarType dtype) {
  TORCH_CHECK_NOT_IMPLEMENTED(quantizer->qscheme() == at::kPerTensorAffine, "quantized tensors of scheme ",
      toString(quantizer->qscheme()), " can't be on openreg");
  const c10::DispatchKey key = memory.is_cpu() ? c10::DispatchKey::QuantizedCPU : c10::DispatchKey::QuantizedPrivateUse1;
  at::Tensor result = at::detail::make_tensor<at::QTensorImpl>(
      c10::Storage(memory.storage()), c10::DispatchKeySet(key), c10::scalarTypeToTypeMeta(dtype), quantizer);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(layout.sizes(), layout.strides(), layout.storage_offset());
  return result;
}

/// A copy on `device`; a compound tensor is copied part by part.
at::Tensor moved(const at::Tensor& tensor, c10::Device device) {
  if (!tensor.defined()) {
    return tensor;
  }
  if (is_compound(tensor)) {
    std::vector<at::Tensor> copies = parts(tensor);
    for (at::Tensor& part : copies) {
      part = part.to(device, /*non_blocking=*/false, /*copy=*/true);
    }
    return with_parts(tensor, copies);
  }
  at::Tensor result = tensor.to(device, /*non_blocking=*/false, /*copy=*/true);
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    result.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return result;
}

uint64_t bytes_in(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return 0;
  }
  uint64_t bytes = 0;
  for (const at::Tensor& part : is_compound(tensor) ? parts(tensor) : std::vector<at::Tensor>{tensor}) {
    bytes += part.nbytes();
  }
  return bytes;
}

/// A quantized tensor's numbers as they are stored.
at::Tensor stored(const at::Tensor& quantized) {
  const c10::DispatchKey key = quantized.is_cpu() ? c10::DispatchKey::CPU : c10::DispatchKey::PrivateUse1;
  at::Tensor numbers = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(quantized.storage()), c10::DispatchKeySet(key),
      c10::scalarTypeToTypeMeta(c10::toUnderlying(quantized.scalar_type())));
  numbers.unsafeGetTensorImpl()->set_sizes_and_strides(quantized.sizes(), quantized.strides(), quantized.storage_offset());
  return numbers;
}

/// Gives a device tensor what the CPU's kernel wrote to its copy. Its parts stay where they are, if they fit.
void write_back(const at::Tensor& device, const at::Tensor& host) {
  if (!is_compound(device)) {
    if (device.sizes() != host.sizes()) {
      device.resize_(host.sizes());
    }
    device.copy_(host);
    return;
  }
  const std::vector<at::Tensor> to = parts(device);
  const std::vector<at::Tensor> from = parts(host);
  const bool fits = std::ranges::equal(to, from, [](const at::Tensor& a, const at::Tensor& b) { return a.sizes() == b.sizes(); });
  if (fits) {
    for (size_t i = 0; i < to.size(); ++i) {
      to[i].copy_(from[i]);
    }
  }
  if (device.is_sparse()) {
    at::SparseTensorImpl* const impl = at::sparse::get_sparse_impl(device);
    if (!fits) {
      impl->raw_resize_(host.sparse_dim(), host.dense_dim(), host.sizes());
      impl->set_indices_and_values_unsafe(from[0].to(device.device()), from[1].to(device.device()));
    }
    impl->set_coalesced(host.is_coalesced());
  } else {
    TORCH_CHECK_NOT_IMPLEMENTED(fits, "a CPU kernel gave other parts to a tensor of layout ", device.layout(), ", on openreg");
  }
}

}  // namespace

std::vector<at::Tensor> parts(const at::Tensor& compound) {
  if (compound.is_nested()) {
    return {at::native::get_nested_tensor_impl(compound)->get_unsafe_storage_as_tensor()};
  }
  if (compound.is_quantized()) {
    return {bytes_of(compound)};
  }
  if (compound.is_sparse()) {
    const at::SparseTensorImpl* const impl = at::sparse::get_sparse_impl(compound);
    return {impl->indices(), impl->values()};
  }
  const auto* const impl = at::sparse_csr::get_sparse_csr_impl(compound);
  return {impl->compressed_indices(), impl->plain_indices(), impl->values()};
}

at::Tensor with_parts(const at::Tensor& compound, const std::vector<at::Tensor>& parts) {
  const c10::TensorOptions options = compound.options().device(parts[0].device());
  if (compound.is_sparse()) {
    return at::_sparse_coo_tensor_with_dims_and_tensors(compound.sparse_dim(), compound.dense_dim(), compound.sizes(),
        parts[0], parts[1], options, compound.is_coalesced());
  }
  if (at::sparse_csr::is_sparse_compressed(compound)) {
    return at::_sparse_compressed_tensor_unsafe(parts[0], parts[1], parts[2], compound.sizes(), options);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(parts[0].storage_offset() == 0, "a CPU kernel made a view of a part of a storage of openreg");
  if (compound.is_quantized()) {
    return quantized_over(parts[0], at::get_qtensorimpl(compound)->quantizer(), compound, compound.scalar_type());
  }
  const auto* const impl = at::native::get_nested_tensor_impl(compound);
  return at::detail::make_tensor<at::native::NestedTensorImpl>(
      parts[0], impl->get_nested_sizes(), impl->get_nested_strides(), impl->get_storage_offsets());
}

at::Tensor empty_quantized(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
    std::optional<at::Device> device, std::optional<bool> pin_memory, double scale, int64_t zero_point,
    std::optional<at::MemoryFormat> memory_format) {
  TORCH_CHECK(dtype.has_value(), "Must provide data type for Tensor creation functions.");
  const at::Tensor memory = at::empty(size, c10::toUnderlying(*dtype), layout, device, pin_memory, memory_format);
  return quantized_over(memory, at::make_per_tensor_affine_quantizer(scale, zero_point, *dtype), memory, *dtype);
}

at::Tensor copy_quantized(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_quantized() && dst.is_quantized() && self.scalar_type() == dst.scalar_type(),
      "a copy from ", self.scalar_type(), " to ", dst.scalar_type(), " on openreg");
  at::set_quantizer_(dst, at::get_qtensorimpl(self)->quantizer());
  stored(dst).copy_(stored(self), non_blocking);
  return dst;
}

namespace {

/// Runs the call with the CPU's kernel for this kind of tensor, on the device's tensors, if that is one that only takes apart or
/// puts together; false if it is not.
bool run_as_it_is(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const bool is_view = std::ranges::any_of(schema.returns(),
      [](const c10::Argument& result) { return result.alias_info() != nullptr && !result.alias_info()->isWrite(); });
  const bool copies_sparse = schema.name() == "aten::copy_" && cpu_key(op, *stack) != c10::DispatchKey::QuantizedCPU;
  if (!is_view && !copies_sparse && !puts_together(schema.name())) {
    return false;
  }
  const c10::DispatchKey key = cpu_key(op, *stack);
  if (!op.hasKernelForDispatchKey(key)) {
    return false;
  }
  const c10::DeviceGuard guard(where_it_is(op, *stack));
  op.redispatchBoxed(c10::DispatchKeySet(key), stack);
  return true;
}

std::pair<uint64_t, uint64_t> run_compound(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  c10::Device device(c10::DeviceType::PrivateUse1, current_device());
  const size_t count = op.schema().arguments().size();
  const auto arguments = torch::jit::last(*stack, count);
  std::unordered_map<const c10::TensorImpl*, at::Tensor> on_host;
  std::unordered_map<const c10::TensorImpl*, at::Tensor> given;  // by what stands for it on the host
  std::vector<std::pair<at::Tensor, at::Tensor>> written;
  uint64_t to_host = 0;
  uint64_t to_device = 0;
  torch::jit::Stack host;
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].isDevice() && arguments[i].toDevice().is_privateuseone()) {
      host.emplace_back(c10::Device(c10::DeviceType::CPU));
      continue;
    }
    host.push_back(mapped(arguments[i], [&](const at::Tensor& tensor) {
      if (!tensor.defined() || !tensor.is_privateuseone()) {
        return tensor;
      }
      const auto [known, added] = on_host.try_emplace(tensor.unsafeGetTensorImpl());
      if (added) {
        known->second = moved(tensor, c10::Device(c10::DeviceType::CPU));
        // Some kernels keep what the backward pass needs only where there will be one.
        known->second.set_requires_grad(tensor.requires_grad());
        given.emplace(known->second.unsafeGetTensorImpl(), tensor);
        to_host += bytes_in(tensor);
      }
      if (is_written(op, i)) {
        written.emplace_back(tensor, known->second);
      }
      return known->second;
    }));
  }
  {
    const bool grad = at::GradMode::is_enabled();
    const CpuKernelScope scope;
    const at::AutoGradMode as_called(grad);
    op.callBoxed(&host);
  }
  for (const c10::IValue& argument : arguments) {
    device = argument.isDevice() ? argument.toDevice() : device;  // where the caller wants the result, the CPU maybe
  }
  for (const auto& [tensor, copy] : written) {
    write_back(tensor, copy);
    to_device += bytes_in(copy);
  }
  torch::jit::drop(*stack, count);
  for (const c10::IValue& result : host) {
    stack->push_back(mapped(result, [&](const at::Tensor& tensor) {
      if (const auto known = given.find(tensor.unsafeGetTensorImpl()); known != given.end()) {
        return known->second;
      }
      if (device.is_cpu()) {
        return tensor;
      }
      to_device += bytes_in(tensor);
      return moved(tensor, device);
    }));
  }
  return {to_host, to_device};
}

at::Tensor parts_on_device(HostTensors& tensors, const at::Tensor& result) {
  std::vector<at::Tensor> there = parts(result);
  for (at::Tensor& part : there) {
    part = tensors.on_device(part);
  }
  return with_parts(result, there);
}

[[maybe_unused]] const bool compound_results = (compound_on_device = &parts_on_device, true);

}  // namespace

void compound_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (!run_as_it_is(op, stack)) {
    fall_back_on_copies(op, stack, &run_compound);
  }
}

}  // namespace openreg
