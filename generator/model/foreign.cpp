// Operators that no backend for dense tensors needs: those of other libraries, of other layouts, of CUDA only.
#include "model/coverage.h"
#include "spec/minimal_ops.h"

namespace openreg_gen {
namespace {

// Only CUDA has kernels for these, yet PyTorch calls them on a PrivateUse1 device too:
// torch.nn.SyncBatchNorm.
constexpr std::string_view kCalledOnBackends =
    "batch_norm_stats batch_norm_elemt batch_norm_elemt.out batch_norm_gather_stats "
    "batch_norm_gather_stats_with_counts "
    "batch_norm_backward_reduce batch_norm_backward_elemt";

/// Operators with which PyTorch tests itself: _foobar, _test_functorch_fallback.
bool is_of_pytorchs_tests(const Op& op) { return op.base == "_foobar" || op.base.starts_with("_test_"); }

bool takes_dense_tensors(const Op& op) {
  if (op.kernels.contains("CPU") || !op.structured_delegate.empty() || op.structured) return true;
  return std::ranges::any_of(op.kernels, [](const auto& each) { return each.first.starts_with("Composite"); });
}

/// The operator of which PyTorch's code generator derived this form; the operator itself if nothing was derived.
const Op& origin_of(const Op& op, const Catalog& catalog) {
  if (!op.has_tag("generated")) return op;
  for (const std::string& name : op.variants)
    if (const Op* other = catalog.find(name); other != nullptr && !other->has_tag("generated")) return *other;
  return op;
}

}  // namespace

std::string foreign_reason(const Op& form, const Catalog& catalog) {
  const Op& op = origin_of(form, catalog);
  if (is_minimal_op(op.name) || has_word(kCalledOnBackends, op.name) || op.composite_implicit || op.default_throws())
    return {};
  if (is_of_pytorchs_tests(op)) return "only PyTorch's own tests call it";
  if (op.base.ends_with("_for_cpu")) return "the CPU's variant of another operator";
  const std::string_view family = family_of(op, catalog);
  if (family == "vendor library") return "for another vendor's library";
  const bool of_numbers = includes(op.base, "fake_quant") || includes(op.base, "int4") || includes(op.base, "int8");
  if (family == "quantized" && !of_numbers) return "for quantized tensors";
  if (family == "sparse") return "for sparse tensors";
  if (family == "nested") return "for nested tensors";
  if (op.has_dispatch && !takes_dense_tensors(op)) return "PyTorch has kernels for it only on other devices or layouts";
  return {};
}

bool is_foreign(const Op& op, const Catalog& catalog) { return !foreign_reason(op, catalog).empty(); }

}  // namespace openreg_gen
