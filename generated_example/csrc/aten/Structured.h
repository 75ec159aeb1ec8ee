// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <utility>

#include <ATen/DimVector.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>

// Note [Structured kernels]
// A structured operator is split in two by PyTorch: meta() checks the arguments and says what the output
// looks like, impl() computes. meta() is inherited from PyTorch (ATen/ops/*_meta.h), so shapes, dtypes and
// errors are its own; impl() is the kernel. meta() announces each output through the virtuals below, whose
// answer here is that of an out= operator: resize what was given, and where its strides can't serve, compute
// into a proxy and copy. Only the out= form is registered: PyTorch's default functional and in-place forms
// call it. Without this class each kernel would repeat what PyTorch generates for its own backends.

namespace openreg {

/// `Kernel` derives from at::meta::structured_...; N is the number of outputs. Use: construct with the
/// outputs, meta(), impl() on output(i), write_back(). Lives on the stack of one call and borrows the
/// outputs.
template <class Kernel, size_t N>
class StructuredOut final : public Kernel {
 public:
  template <class... Out>
  explicit StructuredOut(Out&... out) : outputs_{std::ref(out)...} {
    static_assert(sizeof...(Out) == N);
  }

  void set_output_strided(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options) override {
    prepare(index, sizes, strides, options);
    const at::Tensor& out = outputs_[index];
    if (out.strides() != strides) {
      proxies_[index] = at::empty_strided(sizes, strides, options);
    }
    tell_iterator(index, sizes, strides, options);
  }

  void set_output_raw_strided(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options) override {
    prepare(index, sizes, strides, options);
    tell_iterator(index, sizes, strides, options);
  }

  const at::Tensor& maybe_get_output(int64_t index) override { return output(index); }

  /// What impl() writes: the given tensor or its proxy.
  const at::Tensor& output(size_t index) const {
    return proxies_[index].has_value() ? *proxies_[index] : outputs_[index].get();
  }

  /// Copies proxies into the given tensors, and warns of those that changed their shape.
  void write_back() {
    for (size_t i = 0; i < N; ++i) {
      const at::Tensor& out = outputs_[i];
      if (proxies_[i].has_value()) {
        out.copy_(*proxies_[i]);
      }
      if (given_[i].has_value() && out.sizes() != *given_[i]) {
        TORCH_WARN("An output with one or more elements was resized since it had shape ",
            at::IntArrayRef(*given_[i]), ", which does not match the required output shape ", out.sizes(),
            ". Resize it to zero elements to have it reused.");
      }
    }
  }

 private:
  void prepare(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
    if (!guard_.current_device().has_value()) {
      guard_.reset_device(options.device());
    }
    at::Tensor& out = outputs_[index];
    TORCH_CHECK(options.dtype() == out.dtype(), "Expected out tensor to have dtype ", options.dtype(),
        ", but got ", out.dtype(), " instead");
    TORCH_CHECK(options.device() == out.device(), "Expected out tensor to have device ", options.device(),
        ", but got ", out.device(), " instead");
    if (out.sizes() == sizes) {
      return;
    }
    // Said by write_back(): meta() and impl() of a loss resize an output one after the other, to what it was.
    if (out.numel() != 0 && !given_[index].has_value()) {
      given_[index].emplace(out.sizes().begin(), out.sizes().end());
    }
    out.resize_(sizes);
    // Strides are advice, and only for an output whose layout is ours to choose.
    if (!strides.empty()) {
      out.as_strided_(sizes, strides);
    } else if (options.memory_format_opt().has_value()) {
      out.unsafeGetTensorImpl()->empty_tensor_restride(*options.memory_format_opt());
    }
  }

  void tell_iterator(
      int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
    if constexpr (std::is_base_of_v<at::TensorIteratorBase, Kernel>) {
      Kernel::set_output_raw_strided(index, sizes, strides, options);
    }
  }

  std::array<std::reference_wrapper<at::Tensor>, N> outputs_;
  std::array<std::optional<at::Tensor>, N> proxies_;
  std::array<std::optional<at::DimVector>, N> given_;  // shapes of resized outputs that had elements
  c10::OptionalDeviceGuard guard_;
};

/// An optional tensor as meta() takes it.
inline at::OptionalTensorRef tensor_ref(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? at::OptionalTensorRef(*tensor) : at::OptionalTensorRef();
}

/// An optional number as meta() takes it; borrows `scalar`.
inline at::OptionalScalarRef scalar_ref(const std::optional<at::Scalar>& scalar) {
  return scalar.has_value() ? at::OptionalScalarRef(&*scalar) : at::OptionalScalarRef();
}

}  // namespace openreg
