// `matmul`: products of matrices and vectors, with gemm() of the device's API.
#include "strategy/strategy.h"
#include "strategy/fit.h"
#include "strategy/item.h"

namespace openreg_gen {
namespace {

struct MatmulItem : OpItem {
  using OpItem::OpItem;
  std::string gemm_args;  // "self, mat1, mat2, beta, alpha"; where nothing is added, the sum is left undefined
  std::string dot_args;   // of a product of vectors, which has no meta()
  void print(Fields out) const override {
    OpItem::print(out);
    if (calls)
      out("gemm_args", gemm_args);
    else
      out("dot_args", dot_args);
  }
};

std::string not_matmul(const Op& op) {
  constexpr std::string_view family = "addmm.out addmv.out baddbmm.out bmm.out dot mm.out vdot";
  if (has_word(family, op.name)) return {};
  if (has_word(family, op.structured_delegate)) return served_by_delegate(op);
  constexpr std::string_view composed =
      "chain_matmul dot inner linalg_matmul linalg_multi_dot linear matmul mv linalg_vecdot tensordot vdot";
  if (has_word(composed, op.base))
    return "PyTorch composes it from products that can be: mm.out, bmm.out, addmm.out, baddbmm.out, addmv.out and dot";
  return "it is not a matrix product; those are mm.out, bmm.out, addmm.out, baddbmm.out, addmv.out, dot and vdot";
}

std::string gemm_arguments(const Op& op) {
  std::vector<Parameter> in;
  for (const Parameter& p : parameters(op))
    if (!p.out) in.push_back(p);
  return in.size() == 2 ? "at::Tensor(), " + names(in) + ", 0, 1" : names(in);
}

/// The driver computes products; a port that is not written yet doesn't.
bool products_on_host(const DeviceKind& device, const DeviceKernels&, const Op&) {
  return !device.runs_loops && device.kernels.empty();
}

std::unique_ptr<OpItem> matmul_item(const SpecView& shown, const OpSpec&, const Op& op) {
  auto out = std::make_unique<MatmulItem>(op);
  if (op.structured) {
    out->calls = shown.structured(op);
    out->gemm_args = gemm_arguments(op);
  } else {
    out->dot_args = op.base == "vdot" ? "self.conj(), other" : names(parameters(op));
  }
  return out;
}

void summarise_matmul(const SpecView&, StrategySummary& listed) {
  std::set<std::string> headers;
  bool dots = false;
  for (const auto& product : listed.of("matmul")) {
    headers.insert(product->ops_header);
    if (product->calls) headers.insert(product->calls->meta_header);
    dots = dots || !product->calls;
  }
  listed.out("dots", dots)("matmul_headers", headers);
}

}  // namespace

Strategy matmul_strategy() {
  return {
      .word = "matmul",
      .about = "the device's matrix multiplication.",
      .component = "gemm",
      .unfit = not_matmul,
      .code = "E0223",
      .preference = 2,
      .why = "shapes and dtypes come from PyTorch; all products of matrices share the device's Gemm",
      .starts_on_host = products_on_host,
      .lists = "matmul",
      .item = matmul_item,
      .summarise = summarise_matmul,
  };
}

}  // namespace openreg_gen
