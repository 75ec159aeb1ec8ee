// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "host/Iterator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty_like.h>

namespace openreg::native {
namespace {

/// A tensor of the device as the iterator sees it: broadcast, dimensions merged.
at::Tensor operand_view(at::TensorIteratorBase& iter, int index, bool of_nothing) {
  const at::TensorBase& tensor = iter.tensor_base(index);
  const auto itemsize = static_cast<int64_t>(tensor.itemsize());
  const auto shape = iter.shape();
  const auto bytes = iter.strides(index);
  at::DimVector sizes(shape.rbegin(), shape.rend());
  at::DimVector strides(bytes.rbegin(), bytes.rend());
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    sizes[dim] = of_nothing && sizes[dim] == 0 ? 1 : sizes[dim];
    strides[dim] /= itemsize;
  }
  at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(tensor.storage()), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), tensor.dtype());
  c10::TensorImpl* const impl = view.unsafeGetTensorImpl();
  const auto* const data = static_cast<const char*>(iter.data_ptr(index));
  impl->set_sizes_and_strides(sizes, strides, data == nullptr ? 0 : (data - static_cast<const char*>(tensor.storage().data())) / itemsize);
  if (sizes.empty() && tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    impl->set_wrapped_number(true);
  }
  return view;
}

}  // namespace

at::ScalarType common_dtype(at::TensorIteratorBase& iter, const Effects& effects) {
  return effects.promotes ? iter.maybe_common_dtype().value_or(at::ScalarType::Undefined) : at::ScalarType::Undefined;
}

CpuIterator::CpuIterator(c10::ArrayRef<Operand> operands, size_t outputs, at::ScalarType common, bool reduction) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false).allow_cpu_scalars(true).resize_outputs(false);
  config.promote_inputs_to_common_dtype(common != at::ScalarType::Undefined);
  for (size_t i = 0; i < operands.size(); ++i) {
    at::Tensor operand = operands[i].tensor;
    const bool differs = common != at::ScalarType::Undefined && operand.scalar_type() != common;
    if (i >= outputs) {
      // A number stays as it was given, for functions that compute in a wider type: an iterator keeps both.
      config.add_owned_const_input(differs && !operands[i].number ? operand.to(common) : operand);
      continue;
    }
    for (int64_t dim = 0; dim < operand.dim(); ++dim) {
      reduction = reduction || (operand.stride(dim) == 0 && operand.size(dim) > 1);
    }
    if (differs && operand.scalar_type() != at::kBool) {  // a comparison writes its bool as it is
      at::Tensor computed = at::empty_like(operand, operand.options().dtype(common));
      casts_.emplace_back(std::move(operand), computed);
      operand = std::move(computed);
    }
    config.add_owned_output(operand);
  }
  iter_ = config.is_reduction(reduction).build();
}

void CpuIterator::finish() {
  for (const auto& [operand, computed] : casts_) {
    operand.copy_(computed);
  }
}

HostIterator::HostIterator(at::TensorIteratorBase& device, HostTensors& host, const Effects& effects)
    : outputs_(static_cast<size_t>(device.noutputs())), common_(common_dtype(device, effects)) {
  for (int i = 0; i < device.ntensors(); ++i) {
    const bool written = i < device.noutputs();
    const at::TensorBase& tensor = device.tensor_base(i);
    if (device.device_type(i) == at::kCPU) {
      operands_.push_back({at::Tensor(tensor), true});
      continue;
    }
    // A reduction over nothing has results all the same, and the CPU's function may fill them.
    const bool of_nothing = written && device.numel() == 0 && tensor.numel() != 0;
    reduction_ = reduction_ || of_nothing;
    operands_.push_back({operand_view(device, i, of_nothing), false});
    host.add(operands_.back().tensor, written, !written || effects.reads_outputs);
  }
}

at::TensorIterator& HostIterator::get(HostTensors& host) {
  for (CpuIterator::Operand& operand : operands_) {
    operand.tensor = operand.number ? operand.tensor : host.on_host(operand.tensor);
  }
  iter_ = std::make_unique<CpuIterator>(operands_, outputs_, common_, reduction_);
  return iter_->get();
}

}  // namespace openreg::native
