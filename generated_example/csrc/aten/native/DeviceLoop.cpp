// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "aten/native/DeviceLoop.h"

#include <c10/util/SmallBuffer.h>

namespace openreg::native {

LoopPlan::LoopPlan(const at::TensorIteratorBase& iter, ConvertNumber convert) : shape(iter.shape()) {
  const size_t count = static_cast<size_t>(iter.ntensors());
  const size_t dims = std::max<size_t>(shape.size(), 2);
  strides.resize(dims * count);
  for (size_t i = 0; i < count; ++i) {
    const int index = static_cast<int>(i);
    const size_t size = iter.element_size(index);
    if (index >= iter.noutputs() && iter.device_type(index) == at::kCPU) {
      HostScalar scalar{i, {}};
      TORCH_INTERNAL_ASSERT(iter.is_cpu_scalar(index) && size <= scalar.bytes.size());
      std::memcpy(scalar.bytes.data(), iter.data_ptr(index), size);
      if (convert != nullptr) {
        convert(scalar.bytes.data(), iter.dtype(index));
      }
      scalars.push_back(scalar);
      operands.push_back({});
      continue;
    }
    size_t bytes = size;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const int64_t stride = iter.strides(index)[dim];
      strides[dim * count + i] = stride;
      bytes += static_cast<size_t>((shape[dim] - 1) * stride);
    }
    operands.push_back({iter.data_ptr(index), bytes, index < iter.noutputs()});
  }
}

void LoopPlan::run(char** pointers, at::TensorIteratorBase::loop2d_t loop) const {
  const size_t count = operands.size();
  c10::SmallBuffer<char*, 8> data(count);
  std::copy_n(pointers, count, data.data());
  for (const HostScalar& scalar : scalars) {
    data[scalar.operand] = const_cast<char*>(scalar.bytes.data());
  }
  // The loop takes the two innermost dimensions; the others are counted here, as an odometer.
  const int64_t inner = shape.empty() ? 1 : shape[0];
  const int64_t outer = shape.size() < 2 ? 1 : shape[1];
  at::DimVector index(shape.size(), 0);
  while (true) {
    loop(data.data(), strides.data(), inner, outer);
    size_t dim = 2;
    for (; dim < shape.size(); ++dim) {
      const bool carry = ++index[dim] == shape[dim];
      for (size_t i = 0; i < count; ++i) {
        data[i] += strides[dim * count + i] * (carry ? 1 - shape[dim] : 1);
      }
      if (!carry) {
        break;
      }
      index[dim] = 0;
    }
    if (dim >= shape.size()) {
      return;
    }
  }
}

OperandOrder operand_order(const at::TensorIteratorBase& iter, const char* op,
    std::initializer_list<std::reference_wrapper<const at::Tensor>> tensors) {
  OperandOrder order;
  for (const at::Tensor& tensor : tensors) {
    int operand = iter.noutputs();
    while (operand < iter.ntensors() && !iter.tensor_base(operand).is_same(tensor)) {
      ++operand;
    }
    TORCH_CHECK(operand < iter.ntensors(), op, ": tensor ", order.size() + 1, " of ", tensors.size(),
        " is none of the ", iter.ninputs(), " that PyTorch iterates over; an expression can't be its kernel");
    order.push_back(static_cast<size_t>(operand));
  }
  return order;
}

at::TensorIterator elementwise_iterator(
    const at::Tensor& out, at::ArrayRef<at::Tensor> inputs, bool floating) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(true)
      .promote_inputs_to_common_dtype(true)
      .promote_integer_inputs_to_float(floating)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true)
      .allow_cpu_scalars(inputs.size() > 1)
      .add_owned_output(out);
  for (const at::Tensor& input : inputs) {
    config.add_owned_const_input(input);
  }
  return config.build();
}

at::TensorIterator comparison_iterator(const at::Tensor& out, at::ArrayRef<at::Tensor> inputs) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(true)
      .promote_inputs_to_common_dtype(true)
      .allow_cpu_scalars(inputs.size() > 1)
      .add_owned_output(out);
  if (!out.defined()) {
    config.declare_static_dtype(at::kBool);
  }
  for (const at::Tensor& input : inputs) {
    config.add_owned_const_input(input);
  }
  return config.build();
}

}  // namespace openreg::native
