// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/alias/QueuedArgument.h"

#include <ATen/EmptyTensor.h>

namespace openreg::native {

HostTensor::HostTensor(void* data, const at::TensorBase& like, at::IntArrayRef sizes, at::IntArrayRef strides)
    : data_(data),
      wrapped_number_(sizes.empty() && like.unsafeGetTensorImpl()->is_wrapped_number()),
      dtype_(like.dtype()),
      sizes_(sizes.begin(), sizes.end()),
      strides_(strides.begin(), strides.end()) {}

HostTensor HostTensor::of(const at::TensorBase& tensor) {
  if (!tensor.defined()) {
    return {};
  }
  if (!tensor.is_privateuseone()) {
    const at::Tensor host(tensor);
    if (host.dim() != 0 || !host.is_cpu()) {
      return HostTensor(host);
    }
    at::Tensor number = host.clone();
    number.unsafeGetTensorImpl()->set_wrapped_number(host.unsafeGetTensorImpl()->is_wrapped_number());
    return HostTensor(std::move(number));
  }
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided, "a tensor of layout ", tensor.layout());
  HostTensor result(tensor.mutable_data_ptr(), tensor, tensor.sizes(), tensor.strides());
  result.conj_ = tensor.is_conj();
  result.neg_ = tensor.is_neg();
  return result;
}

at::Tensor& HostTensor::get() {
  if (!tensor_.defined() && dtype_ != caffe2::TypeMeta()) {
    tensor_ = make();
  }
  return tensor_;
}

namespace {

/// A CPU tensor over `data`, which it does not own.
at::Tensor tensor_over(void* data, caffe2::TypeMeta dtype, at::IntArrayRef sizes, at::IntArrayRef strides, bool wrapped_number) {
  const size_t bytes = at::detail::computeStorageNbytes(sizes, strides, dtype.itemsize());
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(bytes == 0 ? nullptr : data, at::kCPU), nullptr,
      /*resizable=*/false);
  at::Tensor result =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), dtype);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  if (wrapped_number) {
    result.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return result;
}

}  // namespace

at::Tensor HostTensor::make() const {
  at::Tensor result = tensor_over(data_, dtype_, sizes_, strides_, wrapped_number_);
  result._set_conj(conj_);
  result._set_neg(neg_);
  return result;
}

QueuedIterator::QueuedIterator(at::TensorIteratorBase& device, const Effects& effects)
    : outputs_(static_cast<size_t>(device.noutputs())), common_(common_dtype(device, effects)) {
  const auto shape = device.shape();
  const size_t dims = shape.size();
  const auto count = static_cast<size_t>(device.ntensors());
  sizes_.append(shape.rbegin(), shape.rend());
  strides_.reserve(count * dims);
  operands_.resize(count);
  const bool over_nothing = device.numel() == 0;
  for (size_t i = 0; i < count; ++i) {
    Operand& operand = operands_[i];
    const int index = static_cast<int>(i);
    const at::TensorBase& tensor = device.tensor_base(index);
    // A reduction over nothing has results all the same, and the CPU's function may fill them.
    operand.of_nothing = i < outputs_ && over_nothing && tensor.numel() != 0;
    reduction_ = reduction_ || operand.of_nothing;
    const auto strides = device.strides(index);
    strides_.append(strides.rbegin(), strides.rend());
    if (device.device_type(index) == at::kCPU) {
      operand.host = HostTensor::of(tensor).get();
      continue;
    }
    operand.data = device.data_ptr(index);
    operand.dtype = tensor.dtype();
    operand.wrapped_number = dims == 0 && tensor.unsafeGetTensorImpl()->is_wrapped_number();
  }
}

at::Tensor QueuedIterator::tensor(size_t index) const {
  const Operand& operand = operands_[index];
  if (operand.host.defined()) {
    return operand.host;
  }
  at::DimVector sizes, strides;
  for (size_t dim = 0; dim < sizes_.size(); ++dim) {
    sizes.push_back(operand.of_nothing && sizes_[dim] == 0 ? 1 : sizes_[dim]);
    strides.push_back(strides_[index * sizes_.size() + dim] / static_cast<int64_t>(operand.dtype.itemsize()));
  }
  return tensor_over(operand.data, operand.dtype, sizes, strides, operand.wrapped_number);
}

at::TensorIterator& QueuedIterator::get() {
  c10::SmallVector<CpuIterator::Operand, 3> operands;
  for (size_t i = 0; i < operands_.size(); ++i) {
    operands.push_back({tensor(i), operands_[i].host.defined()});
  }
  iter_ = std::make_unique<CpuIterator>(operands, outputs_, common_, reduction_);
  return iter_->get();
}

}  // namespace openreg::native
