// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/_embedding_bag_ops.h>
#include <ATen/ops/_embedding_bag_forward_only_ops.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>

#include "aten/Signature.h"
#include "host/Fallback.h"

// nn.EmbeddingBag returns, beside its result, what backward wants to know. The CPU leaves out of that what its own
// backward can do without; on any other device fake tensors, and so torch.compile, have all of it, as CUDA does.

namespace openreg::native {
namespace {

using Tensors4 = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
constexpr int64_t kMax = 2;  // mode="max"

/// The bag of each index: the last of those that begin at it or before.
at::Tensor bags_of(const at::Tensor& indices, const at::Tensor& offsets, const at::TensorOptions& options) {
  const at::Tensor begins = offsets.cpu();
  const at::Tensor places = at::arange(indices.size(0), begins.options());
  return at::searchsorted(begins, places, /*out_int32=*/false, /*right=*/true).sub_(1).to(options);
}

template <class Op>
Tensors4 embedding_bag(const at::Tensor& weight, const at::Tensor& indices, const at::Tensor& offsets,
    bool scale_grad_by_freq, int64_t mode, bool sparse, const std::optional<at::Tensor>& per_sample_weights,
    bool include_last_offset, int64_t padding_idx) {
  auto [result, bags, sizes, most] = detour<Op>(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
      per_sample_weights, include_last_offset, padding_idx);
  if (bags.sizes() != indices.sizes()) {
    bags = bags_of(indices, offsets, bags.options());
  }
  if (sizes.sizes() != offsets.sizes()) {  // the last offset begins no bag
    const at::Tensor all = at::zeros(offsets.sizes(), sizes.options());
    all.narrow(0, 0, sizes.numel()).copy_(sizes);
    sizes = all;
  }
  if (mode != kMax && most.numel() != 0) {
    most = at::empty({0}, most.options());
  }
  return {result, bags, sizes, most};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "_embedding_bag", at::_ops::_embedding_bag, embedding_bag<at::_ops::_embedding_bag>, "minimal");
  OPENREG_IMPL(m, "_embedding_bag_forward_only", at::_ops::_embedding_bag_forward_only, embedding_bag<at::_ops::_embedding_bag_forward_only>, "minimal");
}

}  // namespace openreg::native
