// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "host/Kernel.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_index_put_impl_ops.h>
#include <ATen/ops/empty_like.h>

#include "runtime/Exception.h"

namespace openreg::native {

HostTensor::HostTensor(void* data, const at::TensorBase& like, at::IntArrayRef sizes, at::IntArrayRef strides,
    HostMemory& memory, bool written)
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
  memory.add({data, bytes, written, &layout});
}

HostTensor HostTensor::of(const at::TensorBase& tensor, HostMemory& memory, bool written) {
  if (!tensor.defined()) {
    return {};
  }
  if (!tensor.is_privateuseone()) {
    const at::Tensor host(tensor);
    return HostTensor(host.dim() == 0 && host.is_cpu() ? host.clone() : host);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided, "a tensor of layout ", tensor.layout());
  HostTensor result(tensor.mutable_data_ptr(), tensor, tensor.sizes(), tensor.strides(), memory, written);
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

at::Tensor HostTensor::make() const {
  const size_t bytes = at::detail::computeStorageNbytes(sizes_, strides_, dtype_.itemsize());
  void* const data = bytes == 0 ? nullptr : memory_->at(data_);
  c10::Storage storage(
      c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(data, at::kCPU), nullptr, /*resizable=*/false);
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

HostIterator::HostIterator(at::TensorIteratorBase& device, HostMemory& memory, bool promotes)
    : outputs_(device.noutputs()), common_(at::ScalarType::Undefined) {
  if (promotes) {
    common_ = device.maybe_common_dtype().value_or(common_);
  }
  for (int i = 0; i < device.ntensors(); ++i) {
    const at::Tensor& tensor = device.tensor(i);
    // A reduction over nothing has results all the same, and the CPU's function may fill them.
    const bool of_nothing = i < outputs_ && device.numel() == 0 && tensor.numel() != 0;
    reduction_ = reduction_ || of_nothing;
    if (device.device_type(i) == at::kCPU) {
      operands_.push_back(HostTensor::of(tensor, memory, /*written=*/i < outputs_));
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
      operands_.emplace_back(device.data_ptr(i), tensor, sizes, strides, memory, /*written=*/i < outputs_);
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

void run_host_function(c10::DeviceIndex device, c10::function_ref<void()> fn, int threads) noexcept {
  try {
    const CpuKernelScope scope(threads);
    fn();
  } catch (const c10::Error& error) {
    report_kernel_error(device, error.what_without_backtrace());
  } catch (const std::exception& error) {
    report_device_error(device, error.what());
  } catch (...) {
    report_device_error(device, "an exception of unknown type");
  }
}

void host_index_put(at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices, const at::Tensor& values,
    bool accumulate, bool unsafe) {
  static_cast<void>(host_call<at::_ops::_index_put_impl_>(self, indices, values, accumulate, unsafe));
}

}  // namespace openreg::native
