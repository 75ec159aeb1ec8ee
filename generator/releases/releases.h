// The releases of PyTorch that this command and what it renders are tested with. Nothing else says which they are: the
// spec's defaults, `doctor`, hints and docs follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace openreg_gen {

// In quotes, as a spec has them: YAML reads 2.10 as 2.1.
inline constexpr std::string_view kOldestTorchQuoted = "\"2.13\"";
inline constexpr std::string_view kNewestTorchQuoted = "\"2.15\"";
inline constexpr std::string_view kOldestTorch = kOldestTorchQuoted.substr(1, kOldestTorchQuoted.size() - 2);
inline constexpr std::string_view kNewestTorch = kNewestTorchQuoted.substr(1, kNewestTorchQuoted.size() - 2);

/// A minor release: {2, 13}. What comes behind ("2.13.1", "2.15.0a0+git1a2b") does not matter.
using TorchRelease = std::pair<int, int>;
std::optional<TorchRelease> torch_release(std::string_view version);

/// 214 for 2.14, as the emitted C++ compares them.
constexpr int release_number(const TorchRelease& release) { return release.first * 100 + release.second; }

/// Both ends included: ("2.13", "2.15") -> ">=2.13,<2.16", as pip has it.
std::string torch_requirement(std::string_view min, std::string_view max);

/// The command that installs a supported one.
std::string install_torch();

/// In which releases an operator is declared; empty ends are those of what is supported.
struct OpRelease {
  std::string_view op;            // "cholesky"
  std::string_view since, until;  // "", "2.13"
};

/// Null for an operator that each supported release has, or none.
const OpRelease* find_op_release(std::string_view op);

}  // namespace openreg_gen
