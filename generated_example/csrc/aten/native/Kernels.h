// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <array>
#include <optional>
#include <tuple>

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>

// Note [The minimal operator set]
// What PyTorch needs of a backend before anything works: memory, views of it, copies. All else can fall back to the CPU
// through these. RegisterMinimal.cpp registers these kernels; each is replaced by one of the spec's `ops` of the same name.

namespace openreg::native {

// Empty.cpp: new tensors, uninitialised
at::Tensor empty_memory_format(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> layout, std::optional<at::Device> device, std::optional<bool> pin_memory,
    std::optional<at::MemoryFormat> memory_format);
at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> layout, std::optional<at::Device> device, std::optional<bool> pin_memory);

// View.cpp: other tensors on the same memory
at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
    std::optional<int64_t> storage_offset);
at::Tensor view(const at::Tensor& self, at::IntArrayRef size);
at::Tensor _reshape_alias(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride);
at::Tensor unfold(const at::Tensor& self, int64_t dimension, int64_t size, int64_t step);
at::Tensor view_as_real(const at::Tensor& self);
at::Tensor view_as_complex(const at::Tensor& self);
bool _has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from);

// Resize.cpp: the same tensor with other sizes or another storage
const at::Tensor& resize_(
    const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat> memory_format);
const at::Tensor& _resize_output_(const at::Tensor& self, at::IntArrayRef size, at::Device device);
at::Tensor& set_(at::Tensor& self);
at::Tensor& set__source_Tensor(at::Tensor& self, const at::Tensor& source);
at::Tensor& set__source_Storage(at::Tensor& self, at::Storage source);
at::Tensor& set__source_Storage_storage_offset(at::Tensor& self, at::Storage source, int64_t storage_offset,
    at::IntArrayRef size, at::IntArrayRef stride);
bool is_set_to(const at::Tensor& self, const at::Tensor& tensor);

// Copy.cpp, Fill.cpp: values in, out and across
at::Tensor _copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking);
at::Tensor _copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst);
at::Scalar _local_scalar_dense(const at::Tensor& self);
at::Tensor& fill__Scalar(at::Tensor& self, const at::Scalar& value);
at::Tensor& fill__Tensor(at::Tensor& self, const at::Tensor& value);
at::Tensor& zero_(at::Tensor& self);
at::Tensor& conj_physical_(at::Tensor& self);
void record_stream(at::Tensor& self, at::Stream s);

// Dropout.cpp: it has no generator argument, so a fallback would draw from the CPU's generator
using Tensors2 = std::tuple<at::Tensor, at::Tensor>;
Tensors2 native_dropout(const at::Tensor& input, double p, std::optional<bool> train);

// Empty.cpp: an output of a structured operator, on the current device, which is that of `options`. Without strides, its memory
// format decides
at::Tensor new_tensor(at::IntArrayRef size, at::IntArrayRef stride, const at::TensorOptions& options);

// CopyKernel.cpp: kernels for all layouts and dtypes
/// dst = src, on one device, with broadcast done.
void copy_on_device(const at::Tensor& dst, const at::Tensor& src, bool check_overlap = true);
/// dst = src, of which one is on a device. False if the elements are better moved as they are, or converted by the host.
bool copy_by_kernels(const at::Tensor& dst, const at::Tensor& src);
/// False if the elements lie in one run of bytes, and the device has no kernel that fills it.
bool fill_by_kernel(const at::Tensor& self, const at::Tensor& element);

// Convolution.cpp, BatchNorm.cpp: operators of modules that no fallback serves, as PyTorch sends them to
// operators that the CPU doesn't have, or whose statistics differ between the CPU and all other devices
using Tensors3 = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
at::Tensor convolution_overrideable(const at::Tensor& input, const at::Tensor& weight,
    const std::optional<at::Tensor>& bias, at::IntArrayRef stride, at::IntArrayRef padding,
    at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding, int64_t groups);
Tensors3 convolution_backward_overrideable(const at::Tensor& grad_output, const at::Tensor& input,
    const at::Tensor& weight, at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
    bool transposed, at::IntArrayRef output_padding, int64_t groups, std::array<bool, 3> output_mask);
// Rnn.cpp
using Tensors5 = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
Tensors3 _thnn_fused_lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
    const at::Tensor& cx, const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias);
Tensors3 _thnn_fused_lstm_cell_backward_impl(const std::optional<at::Tensor>& grad_hy,
    const std::optional<at::Tensor>& grad_cy, const at::Tensor& cx, const at::Tensor& cy,
    const at::Tensor& workspace, bool has_bias);
Tensors2 _thnn_fused_gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
    const at::Tensor& hx, const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias);
Tensors5 _thnn_fused_gru_cell_backward(const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias);
Tensors3 native_batch_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, bool training, double momentum, double eps);
Tensors3 _native_batch_norm_legit(const at::Tensor& input, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, at::Tensor& running_mean, at::Tensor& running_var, bool training,
    double momentum, double eps);
Tensors2 batch_norm_update_stats(const at::Tensor& input, const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var, double momentum);

/// Whether new memory is filled: torch.use_deterministic_algorithms promises that no result depends on what was in it.
bool fills_new_memory();

/// Whether a tensor's elements lie in one run of bytes, and how many there is room for from the first to the last.
bool is_plain(const at::Tensor& tensor);
int64_t span_of(const at::Tensor& tensor);

/// The device that a factory's `device` argument means: an index of -1 is the current device.
at::Device resolve_device(std::optional<at::Device> device);

/// Makes the storage of `self` hold at least `bytes`, keeping its contents. Throws if it can't be resized.
void grow_storage(const at::Tensor& self, size_t bytes);

}  // namespace openreg::native
