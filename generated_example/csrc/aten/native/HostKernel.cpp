// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "aten/native/HostKernel.h"

#include <ATen/ops/_index_put_impl_ops.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>

#include "runtime/Exception.h"
#include "runtime/Functions.h"

namespace openreg::native {
namespace {

/// A CPU tensor over memory that it does not own.
at::Tensor over(void* data, const at::TensorBase& like, at::IntArrayRef sizes, at::IntArrayRef strides) {
  int64_t last = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    last = sizes[i] == 0 ? 0 : last + (sizes[i] - 1) * strides[i];
    if (last == 0) {
      break;
    }
  }
  c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<size_t>(last) * like.itemsize(),
      c10::DataPtr(data, at::kCPU), nullptr, /*resizable=*/false);
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), like.dtype());
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  if (sizes.empty() && like.unsafeGetTensorImpl()->is_wrapped_number()) {
    result.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return result;
}

}  // namespace

at::Tensor HostTensors::take(const at::TensorBase& tensor, bool written) {
  if (!tensor.defined()) {
    return {};
  }
  if (!tensor.is_privateuseone()) {
    const at::Tensor host(tensor);
    return host.dim() == 0 && host.is_cpu() ? host.clone() : host;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided, "a tensor of layout ", tensor.layout());
  if (copies_) {
    const at::Tensor device(tensor);
    // An in-place operator gets its tensor twice.
    for (const auto& [known, host] : pairs_) {
      if (known.data_ptr() == device.data_ptr() && known.sizes().equals(device.sizes()) &&
          known.strides().equals(device.strides()) && known.scalar_type() == device.scalar_type()) {
        return host;
      }
    }
    at::Tensor host = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
    host.copy_(device);
    if (written) {
      pairs_.emplace_back(device, host);
    }
    return host;
  }
  at::Tensor result = over(tensor.mutable_data_ptr(), tensor, tensor.sizes(), tensor.strides());
  result._set_conj(tensor.is_conj());
  result._set_neg(tensor.is_neg());
  return result;
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
      }
      operands_.push_back(over(device.data_ptr(i), tensor, sizes, strides));
    }
    const at::Tensor& operand = operands_.back();
    for (int64_t dim = 0; i < outputs_ && dim < operand.dim(); ++dim) {
      reduction_ = reduction_ || (operand.stride(dim) == 0 && operand.size(dim) > 1);
    }
  }
}

at::TensorIterator& HostIterator::get() {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .allow_cpu_scalars(true)
      .resize_outputs(false)
      .is_reduction(reduction_);
  for (int i = 0; i < static_cast<int>(operands_.size()); ++i) {
    at::Tensor& operand = operands_[static_cast<size_t>(i)];
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
  iter_ = config.build();
  return iter_;
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
    report_device_error(error.what_without_backtrace());
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
