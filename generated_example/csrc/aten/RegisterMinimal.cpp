// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/_copy_from_and_resize_ops.h>
#include <ATen/ops/_copy_from_ops.h>
#include <ATen/ops/_fused_sdp_choice_ops.h>
#include <ATen/ops/_has_compatible_shallow_copy_type_ops.h>
#include <ATen/ops/_local_scalar_dense_ops.h>
#include <ATen/ops/_native_batch_norm_legit_ops.h>
#include <ATen/ops/_reshape_alias_ops.h>
#include <ATen/ops/_resize_output_ops.h>
#include <ATen/ops/_thnn_fused_gru_cell_backward_ops.h>
#include <ATen/ops/_thnn_fused_gru_cell_ops.h>
#include <ATen/ops/_thnn_fused_lstm_cell_backward_impl_ops.h>
#include <ATen/ops/_thnn_fused_lstm_cell_ops.h>
#include <ATen/ops/as_strided_ops.h>
#include <ATen/ops/batch_norm_update_stats_ops.h>
#include <ATen/ops/conj_physical_ops.h>
#include <ATen/ops/convolution_backward_overrideable_ops.h>
#include <ATen/ops/convolution_overrideable_ops.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/empty_strided_ops.h>
#include <ATen/ops/fill_ops.h>
#include <ATen/ops/is_set_to_ops.h>
#include <ATen/ops/native_batch_norm_ops.h>
#include <ATen/ops/native_dropout_ops.h>
#include <ATen/ops/record_stream_ops.h>
#include <ATen/ops/resize_ops.h>
#include <ATen/ops/set_ops.h>
#include <ATen/ops/unfold_ops.h>
#include <ATen/ops/view_as_complex_ops.h>
#include <ATen/ops/view_as_real_ops.h>
#include <ATen/ops/view_ops.h>
#include <ATen/ops/zero_ops.h>

#include "host/Fallback.h"
#include "aten/Signature.h"
#include "aten/native/Attention.h"
#include "aten/native/Kernels.h"

// The kernels that come with the backend; see Note [The minimal operator set] in native/Kernels.h. Operators under `ops`
// in the spec are registered elsewhere.

namespace openreg {

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "_copy_from", at::_ops::_copy_from, native::_copy_from, "minimal");
  OPENREG_IMPL(m, "_copy_from_and_resize", at::_ops::_copy_from_and_resize, native::_copy_from_and_resize, "minimal");
  OPENREG_IMPL(m, "_fused_sdp_choice", at::_ops::_fused_sdp_choice, native::_fused_sdp_choice, "minimal");
  OPENREG_IMPL(m, "_has_compatible_shallow_copy_type", at::_ops::_has_compatible_shallow_copy_type, native::_has_compatible_shallow_copy_type, "minimal");
  OPENREG_IMPL(m, "_local_scalar_dense", at::_ops::_local_scalar_dense, native::_local_scalar_dense, "minimal");
  OPENREG_IMPL(m, "_native_batch_norm_legit", at::_ops::_native_batch_norm_legit, native::_native_batch_norm_legit, "minimal");
  OPENREG_IMPL(m, "_reshape_alias", at::_ops::_reshape_alias, native::_reshape_alias, "minimal");
  OPENREG_IMPL(m, "_resize_output_", at::_ops::_resize_output_, native::_resize_output_, "minimal");
  OPENREG_IMPL(m, "_thnn_fused_gru_cell", at::_ops::_thnn_fused_gru_cell, native::_thnn_fused_gru_cell, "minimal");
  OPENREG_IMPL(m, "_thnn_fused_gru_cell_backward", at::_ops::_thnn_fused_gru_cell_backward, native::_thnn_fused_gru_cell_backward, "minimal");
  OPENREG_IMPL(m, "_thnn_fused_lstm_cell", at::_ops::_thnn_fused_lstm_cell, native::_thnn_fused_lstm_cell, "minimal");
  OPENREG_IMPL(m, "_thnn_fused_lstm_cell_backward_impl", at::_ops::_thnn_fused_lstm_cell_backward_impl, native::_thnn_fused_lstm_cell_backward_impl, "minimal");
  OPENREG_IMPL(m, "as_strided", at::_ops::as_strided, native::as_strided, "minimal");
  OPENREG_IMPL(m, "batch_norm_update_stats", at::_ops::batch_norm_update_stats, native::batch_norm_update_stats, "minimal");
  OPENREG_IMPL(m, "conj_physical_", at::_ops::conj_physical_, native::conj_physical_, "minimal");
  OPENREG_IMPL(m, "convolution_backward_overrideable", at::_ops::convolution_backward_overrideable, native::convolution_backward_overrideable, "minimal");
  OPENREG_IMPL(m, "convolution_overrideable", at::_ops::convolution_overrideable, native::convolution_overrideable, "minimal");
  OPENREG_IMPL(m, "empty.memory_format", at::_ops::empty_memory_format, native::empty_memory_format, "minimal");
  OPENREG_IMPL(m, "empty_strided", at::_ops::empty_strided, native::empty_strided, "minimal");
  OPENREG_IMPL(m, "fill_.Scalar", at::_ops::fill__Scalar, native::fill__Scalar, "minimal");
  OPENREG_IMPL(m, "fill_.Tensor", at::_ops::fill__Tensor, native::fill__Tensor, "minimal");
  OPENREG_IMPL(m, "is_set_to", at::_ops::is_set_to, native::is_set_to, "minimal");
  OPENREG_IMPL(m, "native_batch_norm", at::_ops::native_batch_norm, native::native_batch_norm, "minimal");
  OPENREG_IMPL(m, "native_dropout", at::_ops::native_dropout, native::native_dropout, "minimal");
  OPENREG_IMPL(m, "record_stream", at::_ops::record_stream, native::record_stream, "minimal");
  OPENREG_IMPL(m, "resize_", at::_ops::resize_, native::resize_, "minimal");
  OPENREG_IMPL(m, "set_", at::_ops::set_, native::set_, "minimal");
  OPENREG_IMPL(m, "set_.source_Storage", at::_ops::set__source_Storage, native::set__source_Storage, "minimal");
  OPENREG_IMPL(m, "set_.source_Storage_storage_offset", at::_ops::set__source_Storage_storage_offset, native::set__source_Storage_storage_offset, "minimal");
  OPENREG_IMPL(m, "set_.source_Tensor", at::_ops::set__source_Tensor, native::set__source_Tensor, "minimal");
  OPENREG_IMPL(m, "unfold", at::_ops::unfold, native::unfold, "minimal");
  OPENREG_IMPL(m, "view", at::_ops::view, native::view, "minimal");
  OPENREG_IMPL(m, "view_as_complex", at::_ops::view_as_complex, native::view_as_complex, "minimal");
  OPENREG_IMPL(m, "view_as_real", at::_ops::view_as_real, native::view_as_real, "minimal");
  OPENREG_IMPL(m, "zero_", at::_ops::zero_, native::zero_, "minimal");
}

// A lazily conjugated or negated tensor is resolved by copying it; the copy itself therefore has to take it as it is.
// Copies to a tensor that is one would be lost with the tensor that stands for it.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

}  // namespace openreg
