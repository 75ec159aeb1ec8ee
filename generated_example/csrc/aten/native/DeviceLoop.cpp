// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "aten/native/DeviceLoop.h"

#include <algorithm>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/util/SmallBuffer.h>

namespace openreg::native {

LoopPlan::LoopPlan(const at::TensorIteratorBase& iter, Operands& operands, ConvertNumber convert)
    : count(static_cast<size_t>(iter.ntensors())), shape(iter.shape()) {
  strides.resize(std::max<size_t>(shape.size(), 2) * count);
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
    const bool output = index < iter.noutputs();  // a loop writes all of its elements
    operands.push_back({iter.data_ptr(index), bytes, output, nullptr, !output});
  }
  const int64_t numel = iter.numel();
  if (numel > at::internal::GRAIN_SIZE) {
    share(numel, static_cast<size_t>(iter.noutputs()));
  }
}

void LoopPlan::describe(
    const at::TensorIteratorBase& iter, Operands& given, c10::SmallVector<Layout, 1>& layouts) const {
  layouts.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (!given[i].written) {
      continue;
    }
    layouts[i].itemsize = static_cast<size_t>(iter.element_size(static_cast<int>(i)));
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      layouts[i].sizes.push_back(shape[dim]);
      layouts[i].strides.push_back(strides[dim * count + i]);
    }
    given[i].layout = &layouts[i];
  }
}

// Chooses the slowest dimension that gives each thread something to do.
void LoopPlan::share(int64_t numel, size_t outputs) {
  const int most = static_cast<int>(std::min<int64_t>(at::get_num_threads(), numel / at::internal::GRAIN_SIZE));
  for (size_t dim = shape.size(); dim-- > 0 && threads == 1;) {
    bool written_twice = false;  // by two threads, if they share this dimension
    for (size_t i = 0; i < outputs; ++i) {
      written_twice = written_twice || strides[dim * count + i] == 0;
    }
    if (!written_twice && shape[dim] >= most) {
      split = dim;
      threads = most;
    }
  }
}

void LoopPlan::run(char** pointers, const Loop& loop) const {
  c10::SmallBuffer<char*, 8> data(count);
  std::copy_n(pointers, count, data.data());
  for (const HostScalar& scalar : scalars) {
    data[scalar.operand] = const_cast<char*>(scalar.bytes.data());
  }
  const c10::ArrayRef<char*> all(data.data(), count);
  if (threads == 1) {
    run_part(all, loop, 0, shape.empty() ? 1 : shape[split]);
    return;
  }
  const int64_t size = shape[split];
  at::parallel_for(0, size, (size + threads - 1) / threads,
      [&](int64_t begin, int64_t end) { run_part(all, loop, begin, end); });
}

// From `begin` to `end` of the shared dimension.
void LoopPlan::run_part(
    c10::ArrayRef<char*> pointers, const Loop& loop, int64_t begin, int64_t end) const {
  c10::SmallBuffer<char*, 8> data(count);
  for (size_t i = 0; i < count; ++i) {
    data[i] = pointers[i] + strides[split * count + i] * begin;
  }
  // The loop takes the two innermost dimensions; the others are counted here, as an odometer.
  at::DimVector sizes(shape);
  if (!sizes.empty()) {
    sizes[split] = end - begin;
  }
  const int64_t inner = sizes.empty() ? 1 : sizes[0];
  const int64_t outer = sizes.size() < 2 ? 1 : sizes[1];
  at::DimVector index(sizes.size(), 0);
  while (true) {
    loop.run(data.data(), strides.data(), inner, outer);
    size_t dim = 2;
    for (; dim < sizes.size(); ++dim) {
      const bool carry = ++index[dim] == sizes[dim];
      for (size_t i = 0; i < count; ++i) {
        data[i] += strides[dim * count + i] * (carry ? 1 - sizes[dim] : 1);
      }
      if (!carry) {
        break;
      }
      index[dim] = 0;
    }
    if (dim >= sizes.size()) {
      return;
    }
  }
}

void for_each(at::TensorIteratorBase& iter, std::unique_ptr<Loop> loop, ConvertNumber convert) {
  if (iter.numel() == 0 || iter.device_type() == at::kMeta) {
    return;
  }
  if (iter.device_type() == at::kCPU) {
    iter.for_each([&](char** data, const int64_t* strides, int64_t n0, int64_t n1) { loop->run(data, strides, n0, n1); });
    return;
  }
  Operands operands;
  if (kernels_reach_memory()) {
    if (loop->take(iter)) {
      queue(std::move(loop));
      return;
    }
    // A loop that waits in a stream, and what it takes of its iterator.
    struct QueuedLoop : PooledObject {
      QueuedLoop(const at::TensorIteratorBase& iter, Operands& operands, ConvertNumber convert, std::unique_ptr<Loop> what)
          : plan(iter, operands, convert), loop(std::move(what)) {}
      void run(char** pointers) const { plan.run(pointers, *loop); }
      LoopPlan plan;
      std::unique_ptr<Loop> loop;
    };
    auto call = std::make_unique<QueuedLoop>(iter, operands, convert, std::move(loop));
    queue_launch(operands, [call = std::move(call)](char** pointers) { call->run(pointers); });
    return;
  }
  const LoopPlan plan(iter, operands, convert);
  c10::SmallVector<Layout, 1> layouts;
  plan.describe(iter, operands, layouts);
  launch(operands, [&](char** pointers) { plan.run(pointers, *loop); });
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
        " is not among the ", iter.ninputs(), " that PyTorch iterates over; an expression can't be its kernel");
    order.push_back(static_cast<size_t>(operand));
  }
  return order;
}

bool any_complex(at::ArrayRef<at::Tensor> tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) { return tensor.is_complex(); });
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
