#include "spec/minimal_ops.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

constexpr std::string_view kMinimal =
    "_copy_from _copy_from_and_resize _fused_sdp_choice _has_compatible_shallow_copy_type _local_scalar_dense "
    "_native_batch_norm_legit _reshape_alias _resize_output_ _thnn_fused_gru_cell _thnn_fused_gru_cell_backward "
    "_thnn_fused_lstm_cell _thnn_fused_lstm_cell_backward_impl as_strided batch_norm_update_stats conj_physical_ "
    "convolution_backward_overrideable convolution_overrideable empty.memory_format empty_strided fill_.Scalar "
    "fill_.Tensor is_set_to native_batch_norm native_dropout record_stream resize_ set_ set_.source_Storage "
    "set_.source_Storage_storage_offset set_.source_Tensor unfold view view_as_complex view_as_real zero_";

constexpr std::string_view kOfModules =
    "_fused_sdp_choice _native_batch_norm_legit batch_norm_update_stats convolution_backward_overrideable "
    "convolution_overrideable native_batch_norm";

// Found by the sweep (`openreg-gen sweep`): the decomposition accepts dtypes and layouts that the CPU kernel refuses,
// refuses some that it accepts, or returns other strides. That of a loss gives the CPU's kernel an output that the
// kernel resizes, with a warning.
constexpr std::string_view kLikeTheCpu =
    "addr addr.out addr_ all.dims_out any.dims_out mode.values mse_loss native_group_norm native_layer_norm "
    "smooth_l1_loss";

}  // namespace

std::span<const std::string_view> minimal_op_names() {
  static const auto names = words_of(kMinimal);
  return names;
}

bool is_minimal_op(std::string_view op) { return std::ranges::binary_search(minimal_op_names(), op); }

bool is_minimal_op(std::string_view op, const ComponentSet& components) {
  if (!is_minimal_op(op)) return false;
  if (op.starts_with("_thnn_fused")) return components.has("recurrent");
  return components.has("loops") || !has_word(kOfModules, op);
}

std::span<const std::string_view> decomposed_otherwise() {
  static const auto names = words_of(kLikeTheCpu);
  return names;
}

bool is_decomposed_otherwise(std::string_view op) { return has_word(kLikeTheCpu, op); }

}  // namespace openreg_gen
