// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "host/Held.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty_like.h>

namespace openreg::native {

HostTensor::HostTensor(void* data, const at::TensorBase& like, at::IntArrayRef sizes, at::IntArrayRef strides,
    HostMemory& memory, bool written, bool read)
    : data_(data),
      memory_(&memory),
      wrapped_number_(sizes.empty() && like.unsafeGetTensorImpl()->is_wrapped_number()),
      dtype_(like.dtype()),
      sizes_(sizes.begin(), sizes.end()),
      strides_(strides.begin(), strides.end()) {
  if (!memory.copies()) {
    return;
  }
  const size_t bytes = at::detail::computeStorageNbytes(sizes, strides, dtype_.itemsize());
  Layout layout{sizes_, strides_, dtype_.itemsize()};
  for (int64_t& stride : layout.strides) {
    stride *= static_cast<int64_t>(dtype_.itemsize());
  }
  memory.add({data, bytes, written, &layout, read});
}

HostTensor HostTensor::of(const at::TensorBase& tensor, HostMemory& memory, bool written, bool read) {
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
  HostTensor result(tensor.mutable_data_ptr(), tensor, tensor.sizes(), tensor.strides(), memory, written, read);
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
  const size_t bytes = at::detail::computeStorageNbytes(sizes_, strides_, dtype_.itemsize());
  at::Tensor result = tensor_over(bytes == 0 ? nullptr : memory_->at(data_), dtype_, sizes_, strides_, wrapped_number_);
  result._set_conj(conj_);
  result._set_neg(neg_);
  return result;
}

HostIterator::HostIterator(at::TensorIteratorBase& device, HostMemory& memory, const Effects& effects)
    : memory_(memory),
      outputs_(device.noutputs()),
      common_(effects.promotes ? device.maybe_common_dtype().value_or(at::ScalarType::Undefined) : at::ScalarType::Undefined) {
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
    const bool written = index < outputs_;
    const at::TensorBase& tensor = device.tensor_base(index);
    // A reduction over nothing has results all the same, and the CPU's function may fill them.
    operand.of_nothing = written && over_nothing && tensor.numel() != 0;
    reduction_ = reduction_ || operand.of_nothing;
    const auto strides = device.strides(index);
    strides_.append(strides.rbegin(), strides.rend());
    if (device.device_type(index) == at::kCPU) {
      operand.host = HostTensor::of(tensor, memory, written).get();
      continue;
    }
    operand.data = device.data_ptr(index);
    operand.dtype = tensor.dtype();
    operand.wrapped_number = dims == 0 && tensor.unsafeGetTensorImpl()->is_wrapped_number();
    if (memory.copies()) {
      add_copied(operand, i, written, !written || effects.reads_outputs);
    }
  }
}

int64_t HostIterator::size(const Operand& operand, size_t dim) const {
  return operand.of_nothing && sizes_[dim] == 0 ? 1 : sizes_[dim];
}

void HostIterator::add_copied(const Operand& operand, size_t index, bool written, bool read) {
  Layout layout;
  layout.itemsize = operand.dtype.itemsize();
  size_t bytes = layout.itemsize;
  for (size_t dim = 0; dim < sizes_.size(); ++dim) {
    layout.sizes.push_back(size(operand, dim));
    layout.strides.push_back(strides_[index * sizes_.size() + dim]);
    bytes = layout.sizes.back() == 0 || bytes == 0 ? 0 : bytes + static_cast<size_t>((layout.sizes.back() - 1) * layout.strides.back());
  }
  memory_.add({operand.data, bytes, written, &layout, read});
}

at::Tensor HostIterator::tensor(size_t index) const {
  const Operand& operand = operands_[index];
  if (operand.host.defined()) {
    return operand.host;
  }
  at::DimVector sizes, strides;
  bool empty = false;
  for (size_t dim = 0; dim < sizes_.size(); ++dim) {
    sizes.push_back(size(operand, dim));
    strides.push_back(strides_[index * sizes_.size() + dim] / static_cast<int64_t>(operand.dtype.itemsize()));
    empty = empty || sizes.back() == 0;
  }
  void* const data = empty ? nullptr : memory_.at(operand.data);
  return tensor_over(data, operand.dtype, sizes, strides, operand.wrapped_number);
}

at::TensorIterator& HostIterator::get() {
  bool reduction = reduction_;
  casts_.reset();
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false).allow_cpu_scalars(true).resize_outputs(false);
  config.promote_inputs_to_common_dtype(common_ != at::ScalarType::Undefined);
  for (size_t i = 0; i < operands_.size(); ++i) {
    at::Tensor operand = tensor(i);
    const bool written = static_cast<int>(i) < outputs_;
    for (int64_t dim = 0; written && dim < operand.dim(); ++dim) {
      reduction = reduction || (operand.stride(dim) == 0 && operand.size(dim) > 1);
    }
    const bool differs = common_ != at::ScalarType::Undefined && operand.scalar_type() != common_;
    if (written) {
      // A comparison writes its bool as it is.
      if (differs && operand.scalar_type() != at::kBool) {
        at::Tensor computed = at::empty_like(operand, operand.options().dtype(common_));
        if (casts_ == nullptr) {
          casts_ = std::make_unique<Casts>();
        }
        casts_->emplace_back(std::move(operand), computed);
        operand = std::move(computed);
      }
      config.add_owned_output(operand);
    } else {
      // A number stays as it was given, for functions that compute in a wider type: an iterator keeps both.
      const bool number = operands_[i].host.defined();
      config.add_owned_const_input(differs && !number ? operand.to(common_) : operand);
    }
  }
  iter_ = std::make_unique<at::TensorIterator>(config.is_reduction(reduction).build());
  return *iter_;
}

void HostIterator::finish() {
  if (casts_ != nullptr) {
    for (const auto& [operand, computed] : *casts_) {
      operand.copy_(computed);
    }
  }
}

}  // namespace openreg::native
