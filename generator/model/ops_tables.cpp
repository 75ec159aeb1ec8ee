#include "model/ops_tables.h"

#include <stdexcept>

namespace openreg_gen {
namespace {

constexpr MinimalOp kMinimal[] = {
    {"empty.memory_format", "empty_memory_format"},
    {"empty_strided", "empty_strided"},
    {"as_strided", "as_strided"},
    {"view", "view"},
    {"_reshape_alias", "_reshape_alias"},
    {"unfold", "unfold"},
    {"view_as_real", "view_as_real"},
    {"view_as_complex", "view_as_complex"},
    {"_has_compatible_shallow_copy_type", "_has_compatible_shallow_copy_type"},
    {"resize_", "resize_"},
    {"_resize_output_", "_resize_output_"},
    {"set_", "set_"},
    {"set_.source_Tensor", "set__source_Tensor"},
    {"set_.source_Storage", "set__source_Storage"},
    {"set_.source_Storage_storage_offset", "set__source_Storage_storage_offset"},
    {"is_set_to", "is_set_to"},
    {"_copy_from", "_copy_from"},
    {"_copy_from_and_resize", "_copy_from_and_resize"},
    {"_local_scalar_dense", "_local_scalar_dense"},
    {"fill_.Scalar", "fill__Scalar"},
    {"fill_.Tensor", "fill__Tensor"},
    {"zero_", "zero_"},
    {"record_stream", "record_stream"},
    {"convolution_overrideable", "convolution_overrideable"},
    {"convolution_backward_overrideable", "convolution_backward_overrideable"},
    {"_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell"},
    {"_thnn_fused_lstm_cell_backward_impl", "_thnn_fused_lstm_cell_backward_impl"},
    {"_thnn_fused_gru_cell", "_thnn_fused_gru_cell"},
    {"_thnn_fused_gru_cell_backward", "_thnn_fused_gru_cell_backward"},
    {"native_batch_norm", "native_batch_norm"},
    {"batch_norm_update_stats", "batch_norm_update_stats"},
    {"native_dropout", "native_dropout"},
};

struct StubType {
  std::string_view name;
  bool base;          // TensorIteratorBase, not TensorIterator
  int scalars;        // const at::Scalar& that follow
  bool flag = false;  // and a bool
};
constexpr StubType kStubTypes[] = {
    {"binary_fn", false, 0},
    {"binary_fn_alpha", true, 1},
    {"elu_backward_fn", true, 3, true},
    {"elu_fn", true, 3},
    {"hardsigmoid_backward_fn", true, 0},
    {"hardsigmoid_fn", true, 0},
    {"hardswish_fn", false, 0},
    {"hardtanh_backward_fn", false, 2},
    {"is_infinity_op_fn", true, 0},
    {"leaky_relu_backward_fn", true, 1},
    {"leaky_relu_fn", true, 1},
    {"lerp_fn_scalar", true, 1},
    {"lerp_fn_tensor", true, 0},
    {"pow_tensor_tensor_fn", true, 0},
    {"shrink_backward_fn", true, 1},
    {"shrink_fn", true, 1},
    {"softplus_backward_fn", true, 2},
    {"softplus_fn", true, 2},
    {"softshrink_fn", true, 1},
    {"structured_activation_backward_fn", true, 0},
    {"structured_activation_fn", true, 0},
    {"structured_binary_fn", true, 0},
    {"structured_pointwise_fn", true, 1},
    {"threshold_fn", true, 2},
    {"unary_fn", true, 0},
    {"unary_fn_with_scalar", true, 1},
};

}  // namespace

std::span<const MinimalOp> minimal_ops() { return kMinimal; }

Starter starter(std::string_view op) {
  const std::string ordered = "AT_EXPAND(AT_ALL_TYPES), at::kBool, at::kHalf, at::kBFloat16";
  // The NaN of either argument wins, as PyTorch has it.
  if (op == "maximum.out") return {"at::_isnan(self) || self > other ? self : other", ordered};
  if (op == "minimum.out") return {"at::_isnan(self) || self < other ? self : other", ordered};
  if (op == "abs.out") return {"std::abs(self)", "AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), at::kHalf, at::kBFloat16"};
  return {};
}

StubSignature stub_signature(std::string_view fn_type) {
  for (const StubType& type : kStubTypes) {
    if (type.name != fn_type) continue;
    StubSignature out{type.base ? "at::TensorIteratorBase& iter" : "at::TensorIterator& iter", "iter"};
    for (int i = 0; i < type.scalars; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      out.params += ", const at::Scalar& " + name;
      out.args += ", " + name;
    }
    if (type.flag) {
      out.params += ", bool flag";
      out.args += ", flag";
    }
    return out;
  }
  throw std::out_of_range("no parameters known for " + std::string(fn_type));
}

}  // namespace openreg_gen
