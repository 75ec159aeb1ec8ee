// How each PyTorch operator runs on a backend: by the spec's registrations, or by PyTorch's defaults.
#pragma once

#include "base/text.h"
#include "resolve/resolve.h"
#include "spec/kernel_language.h"

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

/// native: a kernel of the backend.  delegate: PyTorch's own form over the backend's structured kernel.  composite:
/// PyTorch composes it from other operators.  fallback: on the CPU.  missing: an error.  not-for-you: no backend needs
/// it (see is_foreign()).
enum class Coverage { Native, Delegate, Composite, Fallback, Missing, NotForYou };
inline constexpr std::array kCoverages = {Coverage::Native,   Coverage::Delegate, Coverage::Composite,
                                          Coverage::Fallback, Coverage::Missing,  Coverage::NotForYou};
inline std::string_view to_string(Coverage coverage) {
  return word_of("native delegate composite fallback missing not-for-you", coverage);
}

/// Families of operators, by name, tags and class, in the order of display.
std::span<const std::string_view> all_families();
/// One of all_families(). Forms of one group (functional, in-place, out) have the same.
std::string_view family_of(const Op& op, const Catalog& catalog);

/// Whether no backend for dense tensors needs the operator: those of cuDNN and similar libraries, of quantized, sparse
/// and nested tensors, and those with kernels only on other devices. A backend may still register them.
bool is_foreign(const Op& op, const Catalog& catalog);
/// Why; empty if it is not.
std::string foreign_reason(const Op& op, const Catalog& catalog);

struct CoverageRow {
  const Op* op = nullptr;
  Coverage coverage = Coverage::Missing;
  std::string_view family;
  std::string how;  // the strategy, the kernel that serves it, or why it is missing or not for a backend
};

struct CoverageTotals {
  std::array<std::size_t, kCoverages.size()> count{};
  void add(Coverage coverage) { ++count[static_cast<std::size_t>(coverage)]; }
  std::size_t of(Coverage coverage) const { return count[static_cast<std::size_t>(coverage)]; }
  std::size_t all() const;
};

struct CoverageTable {
  std::vector<CoverageRow> rows;  // all operators of the catalogue, by name
  CoverageTotals totals;
  std::vector<std::pair<std::string_view, CoverageTotals>> families;  // in their order, without empty ones
};

/// For a spec without errors. `kernels`: what the tree has in the device's language.
CoverageTable cover(const ResolvedSpec& resolved, const DeviceKernels& kernels = {});

}  // namespace openreg_gen
