// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/Arguments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/core/Generator.h>
#include <ATen/core/op_registration/adaption.h>

#include "runtime/Functions.h"

namespace openreg {
namespace {

/// Whether a schema marks an argument as written, or a list whose tensors all are.
bool is_marked(const c10::Argument& argument) {
  const c10::AliasInfo* info = argument.alias_info();
  if (info == nullptr) {
    return false;
  }
  const auto& inner = info->containedTypes();
  return info->isWrite() || std::ranges::any_of(inner, [](const c10::AliasInfo& item) { return item.isWrite(); });
}

/// In training, batch normalization writes the running statistics; its schemas don't say so.
bool is_running_statistic(std::string_view op, std::string_view argument) {
  return (op == "aten::native_batch_norm" || op == "aten::batch_norm_update_stats") && argument.starts_with("running_");
}

/// Arguments that may be on the host beside tensors of the device, on PyTorch's own devices too: indices, lengths and sizes.
/// All others of these operators, such as the values of index_put_, must be on the device.
bool may_be_on_host(std::string_view op, std::string_view argument) {
  using Argument = std::pair<std::string_view, std::string_view>;
  constexpr std::array kArguments{
      Argument{"aten::_ctc_loss", "input_lengths"},
      Argument{"aten::_ctc_loss", "target_lengths"},
      Argument{"aten::_ctc_loss_backward", "input_lengths"},
      Argument{"aten::_ctc_loss_backward", "target_lengths"},
      Argument{"aten::_index_put_impl_", "indices"},
      Argument{"aten::_nested_from_padded", "cpu_nested_shape_example"},
      Argument{"aten::_nested_view_from_buffer", "nested_size"},
      Argument{"aten::_nested_view_from_buffer", "nested_strides"},
      Argument{"aten::_nested_view_from_buffer", "offsets"},
      Argument{"aten::_pack_padded_sequence", "lengths"},
      Argument{"aten::_unsafe_index", "indices"},
      Argument{"aten::_unsafe_index_put", "indices"},
      Argument{"aten::index", "indices"},
      Argument{"aten::index_put", "indices"},
      Argument{"aten::index_put_", "indices"},
  };
  return std::ranges::find(kArguments, Argument(op, argument)) != kArguments.end();
}

/// The device of the tensors; none if there are none.
std::optional<c10::Device> common_device(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const size_t begin = stack.size() - arguments.size();
  std::optional<c10::Device> common;
  for (size_t i = 0; i < arguments.size(); ++i) {
    each_tensor(stack[begin + i], [&common](const at::Tensor& tensor) {
      if (!common.has_value() && tensor.is_privateuseone()) {
        common = tensor.device();
      }
    });
  }
  if (!common.has_value()) {
    return common;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    each_tensor(stack[begin + i], [&](const at::Tensor& tensor) {
      const bool on_host = tensor.is_cpu() && !is_marked(arguments[i]) &&
          (tensor.dim() == 0 || may_be_on_host(op.operator_name().name, arguments[i].name()));
      if (tensor.device() != *common && !on_host) {
        c10::impl::common_device_check_failure(
            *common, tensor, op.operator_name().name.c_str(), arguments[i].name().c_str());
      }
    });
  }
  return common;
}

}  // namespace

bool is_written(const c10::OperatorHandle& op, size_t index) {
  const c10::Argument& argument = op.schema().arguments()[index];
  return is_marked(argument) || is_running_statistic(op.operator_name().name, argument.name());
}

void check_generator(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  std::optional<c10::Device> elsewhere;
  std::optional<c10::Device> generator;
  bool here = false;
  for (const c10::IValue& value : torch::jit::last(stack, op.schema().arguments().size())) {
    if (value.isGenerator()) {
      generator = value.toGenerator().device();
    }
    each_tensor(value, [&](const at::Tensor& tensor) {
      here = here || tensor.is_privateuseone();
      elsewhere = elsewhere.value_or(tensor.device());
    });
  }
  TORCH_CHECK(here || !elsewhere.has_value() || !generator.has_value() || !generator->is_privateuseone(),
      "Expected a '", elsewhere->type(), "' device type for generator but found '", generator->type(), "'");
}

c10::Device resolve_device(std::optional<c10::Device> device) {
  return {c10::DeviceType::PrivateUse1, resolve_device_index(device.has_value() ? device->index() : c10::DeviceIndex{-1})};
}

c10::Device device_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  if (const std::optional<c10::Device> common = common_device(op, stack)) {
    return *common;
  }
  for (const c10::IValue& argument : torch::jit::last(stack, op.schema().arguments().size())) {
    if (argument.isDevice() && argument.toDevice().is_privateuseone()) {
      return resolve_device(argument.toDevice());
    }
  }
  return resolve_device();
}

void leave_out_unread(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (op.operator_name().name != "aten::native_batch_norm_backward") {
    return;
  }
  const auto argument = [&](const char* name) -> c10::IValue& {
    const c10::FunctionSchema& schema = op.schema();
    return (*stack)[stack->size() - schema.arguments().size() + static_cast<size_t>(*schema.argumentIndexWithName(name))];
  };
  if (!argument("train").toBool()) {
    argument("save_mean") = c10::IValue();
    argument("save_invstd") = c10::IValue();
  }
}

bool is_compound(const at::Tensor& tensor) {
  return tensor.is_sparse() || at::sparse_csr::is_sparse_compressed(tensor) || tensor.is_quantized() ||
      (tensor.is_nested() && tensor.layout() == at::kStrided);
}

}  // namespace openreg
