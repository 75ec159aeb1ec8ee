// Written by scripts/facts.py; see docs/guides/next-pytorch.md.
#include "releases/releases.h"

#include <algorithm>
#include <iterator>

namespace openreg_gen {
namespace {

// clang-format off
constexpr OpRelease kOperatorReleases[] = {
    {"_cudnn_attention_forward_no_dropout_inplace", "2.15", ""},
    {"_philox_key_fold_in.Tensor", "2.14", ""},
    {"_philox_randint", "2.15", ""},
    {"_philox_randint.out", "2.15", ""},
    {"_philox_randint_", "2.15", ""},
    {"_scaled_addmm", "2.15", ""},
    {"_scaled_addmm.out", "2.15", ""},
    {"_scaled_addmm_", "2.15", ""},
    {"_scaled_grouped_mm_v2.out", "2.14", ""},
    {"cholesky", "", "2.13"},
    {"cholesky.out", "", "2.13"},
    {"linalg_matrix_sqrth", "2.14", ""},
    {"linalg_matrix_sqrth.out", "2.14", ""},
    {"linalg_polar", "2.14", ""},
    {"linalg_polar.out", "2.14", ""},
    {"qr", "", "2.13"},
    {"qr.Q", "", "2.13"},
};
// clang-format on

}  // namespace

const OpRelease* find_op_release(std::string_view op) {
  const auto at = std::ranges::lower_bound(kOperatorReleases, op, {}, &OpRelease::op);
  return at != std::end(kOperatorReleases) && at->op == op ? &*at : nullptr;
}

}  // namespace openreg_gen
