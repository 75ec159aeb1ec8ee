// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "aten/native/HostKernel.h"

#include <ATen/ops/_index_put_impl_ops.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>

#include "runtime/Exception.h"
#include "runtime/Functions.h"

namespace openreg::native {

HostTensor::HostTensor(void* data, const at::TensorBase& like, at::IntArrayRef sizes, at::IntArrayRef strides)
    : data_(data),
      wrapped_number_(sizes.empty() && like.unsafeGetTensorImpl()->is_wrapped_number()),
      dtype_(like.dtype()),
      sizes_(sizes.begin(), sizes.end()),
      strides_(strides.begin(), strides.end()) {}

void HostTensor::take_pending(const at::TensorBase& device) {
  conj_ = device.is_conj();
  neg_ = device.is_neg();
}

at::Tensor& HostTensor::get() {
  if (!tensor_.defined() && dtype_ != caffe2::TypeMeta()) {
    tensor_ = make();
  }
  return tensor_;
}

at::Tensor HostTensor::make() const {
  int64_t last = 1;
  for (size_t i = 0; i < sizes_.size() && last != 0; ++i) {
    last = sizes_[i] == 0 ? 0 : last + (sizes_[i] - 1) * strides_[i];
  }
  c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<size_t>(last) * dtype_.itemsize(),
      c10::DataPtr(data_, at::kCPU), nullptr, /*resizable=*/false);
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), dtype_);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes_, strides_);
  if (wrapped_number_) {
    result.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  result._set_conj(conj_);
  result._set_neg(neg_);
  return result;
}

HostTensor HostTensors::take(const at::TensorBase& tensor, bool written) {
  if (!tensor.defined()) {
    return {};
  }
  if (!tensor.is_privateuseone()) {
    const at::Tensor host(tensor);
    return HostTensor(host.dim() == 0 && host.is_cpu() ? host.clone() : host);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided, "a tensor of layout ", tensor.layout());
  if (!copies_) {
    HostTensor alias(tensor.mutable_data_ptr(), tensor, tensor.sizes(), tensor.strides());
    alias.take_pending(tensor);
    return alias;
  }
  const at::Tensor device(tensor);
  // An in-place operator gets its tensor twice.
  for (const auto& [known, host] : pairs_) {
    if (known.data_ptr() == device.data_ptr() && known.sizes().equals(device.sizes()) &&
        known.strides().equals(device.strides()) && known.scalar_type() == device.scalar_type()) {
      return HostTensor(host);
    }
  }
  at::Tensor host = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
  host.copy_(device);
  if (written) {
    pairs_.emplace_back(device, host);
  }
  return HostTensor(std::move(host));
}

void HostTensors::write_back() {
  for (const auto& [tensor, copy] : pairs_) {
    at::Tensor device = tensor;
    at::Tensor host = copy;
    for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
      if (tensor.stride(dim) == 0 && tensor.size(dim) > 1) {  // a reduction's output, expanded
        device = device.narrow(dim, 0, 1);
        host = host.narrow(dim, 0, 1);
      }
    }
    device.copy_(host);
  }
}

HostIterator::HostIterator(at::TensorIteratorBase& device, HostTensors& tensors, bool promotes)
    : outputs_(device.noutputs()), common_(at::ScalarType::Undefined) {
  if (promotes) {
    common_ = device.maybe_common_dtype().value_or(common_);
  }
  for (int i = 0; i < device.ntensors(); ++i) {
    const at::Tensor& tensor = device.tensor(i);
    // A reduction over nothing has results all the same, and the CPU's function may fill them.
    const bool of_nothing = i < outputs_ && device.numel() == 0 && tensor.numel() != 0;
    reduction_ = reduction_ || of_nothing;
    if (tensors.copies() || device.device_type(i) == at::kCPU) {
      operands_.push_back(tensors.take(tensor, /*written=*/i < outputs_));
    } else {
      // As the iterator sees it: broadcast, dimensions merged, the fastest first.
      const auto shape = device.shape();
      const auto bytes = device.strides(i);
      const auto size = static_cast<int64_t>(device.element_size(i));
      at::DimVector sizes(shape.rbegin(), shape.rend());
      at::DimVector strides(sizes.size());
      for (size_t dim = 0; dim < sizes.size(); ++dim) {
        strides[dim] = bytes[sizes.size() - 1 - dim] / size;
        sizes[dim] = of_nothing && sizes[dim] == 0 ? 1 : sizes[dim];
      }
      operands_.emplace_back(device.data_ptr(i), tensor, sizes, strides);
    }
  }
}

at::TensorIterator& HostIterator::get() {
  bool reduction = reduction_;
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false).allow_cpu_scalars(true).resize_outputs(false);
  for (int i = 0; i < static_cast<int>(operands_.size()); ++i) {
    at::Tensor& operand = operands_[static_cast<size_t>(i)].get();
    for (int64_t dim = 0; i < outputs_ && dim < operand.dim(); ++dim) {
      reduction = reduction || (operand.stride(dim) == 0 && operand.size(dim) > 1);
    }
    const bool differs = common_ != at::ScalarType::Undefined && operand.scalar_type() != common_;
    if (i < outputs_) {
      // A comparison writes its bool as it is.
      if (differs && operand.scalar_type() != at::kBool) {
        at::Tensor computed = at::empty_like(operand, operand.options().dtype(common_));
        casts_.emplace_back(operand, computed);
        operand = std::move(computed);
      }
      config.add_owned_output(operand);
    } else {
      config.add_owned_const_input(differs ? operand.to(common_) : operand);
    }
  }
  iter_.emplace(config.is_reduction(reduction).build());
  return *iter_;
}

void HostIterator::finish() {
  for (const auto& [operand, computed] : casts_) {
    operand.copy_(computed);
  }
}

at::Tensor detail::to_current_device(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.to(c10::Device(c10::DeviceType::PrivateUse1, current_device())) : tensor;
}

std::vector<at::Tensor> detail::to_current_device(std::vector<at::Tensor> tensors) {
  for (at::Tensor& tensor : tensors) {
    tensor = to_current_device(tensor);
  }
  return tensors;
}

void run_host_function(c10::function_ref<void()> fn, int threads) noexcept {
  try {
    const CpuKernelScope scope(threads);
    fn();
  } catch (const c10::Error& error) {
    report_kernel_error(error.what_without_backtrace());
  } catch (const std::exception& error) {
    report_device_error(error.what());
  } catch (...) {
    report_device_error("an exception of unknown type");
  }
}

void host_index_put(at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices, const at::Tensor& values,
    bool accumulate, bool unsafe) {
  host_op_checked<at::_ops::_index_put_impl_>(self, indices, values, accumulate, unsafe);
}

}  // namespace openreg::native
