// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include <initializer_list>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include "host/Fallback.h"
#include "host/Tensors.h"

// Note [Dtypes that CUDA takes and the CPU does not]
// Some of the CPU's kernels refuse dtypes that CUDA's take, and code that is written for accelerators uses them: routers of
// mixtures of experts count tokens by torch.histc of integers. Such a call is computed in a wider dtype, which holds each value,
// and what it returns or writes is converted back. So are calls for which the CPU's kernel is known to compute wrong results.

namespace openreg {
namespace {

struct Row {
  std::string_view op;  // all its overloads
  std::initializer_list<at::ScalarType> dtypes;
};

const std::initializer_list<at::ScalarType> kHalves = {at::kHalf, at::kBFloat16};
const std::initializer_list<at::ScalarType> kIntegers = {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong};
const std::initializer_list<at::ScalarType> kHalf = {at::kHalf};
const std::initializer_list<at::ScalarType> kBool = {at::kBool};

// What only CUDA takes.
const Row kRefused[] = {
    {"aten::_upsample_bicubic2d_aa", kHalves},
    {"aten::_upsample_bicubic2d_aa_backward", kHalves},
    {"aten::_upsample_bilinear2d_aa", kHalves},
    {"aten::_upsample_bilinear2d_aa_backward", kHalves},
    {"aten::avg_pool3d", kHalves},
    {"aten::avg_pool3d_backward", kHalves},
    {"aten::histc", kIntegers},
    {"aten::multi_margin_loss", kHalves},
    {"aten::multi_margin_loss_backward", kHalves},
    {"aten::multilabel_margin_loss_backward", kHalves},
    {"aten::multilabel_margin_loss_forward", kHalves},
    {"aten::rrelu_with_noise", kHalf},
    {"aten::rrelu_with_noise_", kHalf},
    {"aten::rrelu_with_noise_backward", kHalf},
    {"aten::trace", kBool},
};

// PyTorch 2.13's kernel subtracts the wrong values once there are enough elements for its vectors.
const Row kWrong[] = {
    {"aten::_fused_sgd_", kHalves},
};

/// The dtype of a call's tensors that is in a row of the operator.
std::optional<at::ScalarType> dtype_in(
    c10::ArrayRef<Row> rows, const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  for (const Row& row : rows) {
    if (op.operator_name().name != row.op) {
      continue;
    }
    std::optional<at::ScalarType> found;
    for (const c10::IValue& argument : torch::jit::last(stack, op.schema().arguments().size())) {
      each_tensor(argument, [&](const at::Tensor& tensor) {
        for (const at::ScalarType dtype : row.dtypes) {
          found = tensor.scalar_type() == dtype && !found.has_value() ? dtype : found;
        }
      });
    }
    return found;
  }
  return std::nullopt;
}

at::ScalarType wider(at::ScalarType dtype) {
  if (dtype == at::kBool) {
    return at::kByte;
  }
  return c10::isIntegralType(dtype, /*includeBool=*/false) ? at::kDouble : at::kFloat;
}

/// As a result of CUDA's: what an integer does not hold wraps around.
at::Tensor narrowed(const at::Tensor& tensor, at::ScalarType dtype) {
  return c10::isIntegralType(dtype, /*includeBool=*/false) ? tensor.to(at::kLong).to(dtype) : tensor.to(dtype);
}

void call_wider(const c10::OperatorHandle& op, torch::jit::Stack* stack, at::ScalarType dtype) {
  const size_t count = op.schema().arguments().size();
  const size_t begin = stack->size() - count;
  const at::ScalarType wide = wider(dtype);
  std::unordered_map<const c10::TensorImpl*, at::Tensor> widened, given;  // by the tensor given, by the wide one
  std::vector<std::pair<at::Tensor, at::Tensor>> written;
  for (size_t i = 0; i < count; ++i) {
    c10::IValue& argument = (*stack)[begin + i];
    argument = mapped(argument, [&](const at::Tensor& tensor) {
      if (!tensor.defined() || tensor.scalar_type() != dtype) {
        return tensor;
      }
      const auto [known, added] = widened.try_emplace(tensor.unsafeGetTensorImpl());
      if (added) {
        known->second = tensor.to(wide);
        given.emplace(known->second.unsafeGetTensorImpl(), tensor);
      }
      if (is_written(op, i)) {
        written.emplace_back(tensor, known->second);
      }
      return known->second;
    });
  }
  op.callBoxed(stack);
  for (const auto& [tensor, result] : written) {
    if (tensor.sizes() != result.sizes()) {
      tensor.resize_(result.sizes());
    }
    tensor.copy_(narrowed(result, dtype));
  }
  for (c10::IValue& value : *stack) {
    value = mapped(value, [&](const at::Tensor& tensor) {
      if (const auto known = given.find(tensor.unsafeGetTensorImpl()); known != given.end()) {
        return known->second;
      }
      return tensor.defined() && tensor.scalar_type() == wide ? narrowed(tensor, dtype) : tensor;
    });
  }
}

/// Tensors of a dtype that the CPU's kernel refuses, or gets wrong, are converted to a wider one. Errors: those of the operator.
void call_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (const auto wrong = dtype_in(kWrong, op, *stack)) {
    call_wider(op, stack, *wrong);
    return;
  }
  const auto dtype = dtype_in(kRefused, op, *stack);
  if (!dtype.has_value()) {
    op.callBoxed(stack);
    return;
  }
  torch::jit::Stack as_given = *stack;
  try {
    op.callBoxed(stack);
  } catch (const c10::NotImplementedError&) {
    *stack = std::move(as_given);
    call_wider(op, stack, *dtype);
  }
}

[[maybe_unused]] const bool in_use = (cpu_kernel_call = &call_cpu_kernel, true);

}  // namespace
}  // namespace openreg
