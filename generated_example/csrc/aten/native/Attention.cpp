// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include "aten/native/Attention.h"

#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/native/transformers/attention.h>

// Note [Fused attention]
// F.scaled_dot_product_attention asks the _fused_sdp_choice_stub of its device which implementation to take, and Python
// the operator _fused_sdp_choice; one function serves both. MATH is composed of products and a softmax, and right on any
// device. OVERRIDEABLE is the device's own: the operators _scaled_dot_product_fused_attention_overrideable and, for
// training, its _backward, which the spec names under `ops`.
// The others are kernels of other devices: the CPU's choice, which a fallback would ask, is one that only the CPU has.
// `_fused_sdp_choice: stub` in the spec makes the choice one of your own, in native/_fused_sdp_choice.cpp.

namespace openreg::native {
namespace {

/// Whether torch.vmap batches it.
bool batched(const at::Tensor& tensor) {
  return tensor.key_set().has(c10::DispatchKey::FuncTorchBatched);
}

}  // namespace

// Tensors may be fake, with symbols for sizes, and must not be read.
bool fused_attention_fits(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_mask, bool enable_gqa) {
  const bool masked = attn_mask.has_value() && attn_mask->defined();
  if (!at::globalContext().userEnabledOverrideableSDP()) {
    return false;  // torch.nn.attention.sdpa_kernel
  }
  for (const at::Tensor* tensor : {&query, &key, &value}) {
    // Nested and sparse tensors have no strides; torch.vmap has no rule for the fused operator.
    if (tensor->layout() != at::kStrided || tensor->is_nested() || batched(*tensor) || tensor->dim() != 4 ||
        !at::isFloatingType(tensor->scalar_type()) || tensor->scalar_type() != query.scalar_type()) {
      return false;
    }
  }
  if (masked && (batched(*attn_mask) || attn_mask->dim() > 4)) {
    return false;
  }
  const bool heads = enable_gqa
      ? query.sym_size(1) % key.sym_size(1) == 0 && key.sym_size(1) == value.sym_size(1)
      : query.sym_size(1) == key.sym_size(1) && query.sym_size(1) == value.sym_size(1);
  return heads && query.sym_size(0) == key.sym_size(0) && query.sym_size(0) == value.sym_size(0) &&
      query.sym_size(3) == key.sym_size(3) && key.sym_size(2) == value.sym_size(2) && query.sym_numel() != 0 &&
      key.sym_numel() != 0 && value.sym_numel() != 0;
}

int64_t _fused_sdp_choice(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_mask, double /*dropout_p*/, bool /*is_causal*/,
    std::optional<double> /*scale*/, bool enable_gqa) {
  const bool fused = fused_attention_fits(query, key, value, attn_mask, enable_gqa);
  return static_cast<int64_t>(fused ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

}  // namespace openreg::native

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &openreg::native::_fused_sdp_choice)
}  // namespace at::native
