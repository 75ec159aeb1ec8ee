// The PyTorch releases that this command and its trees are tested with. This is the only list: the spec's defaults,
// `doctor`, hints and docs follow from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace openreg_gen {

// In quotes, as a spec has them: YAML reads 2.10 as 2.1.
inline constexpr std::string_view kOldestTorchQuoted = "\"2.13\"";
inline constexpr std::string_view kNewestTorchQuoted = "\"2.15\"";
inline constexpr std::string_view kOldestTorch = kOldestTorchQuoted.substr(1, kOldestTorchQuoted.size() - 2);
inline constexpr std::string_view kNewestTorch = kNewestTorchQuoted.substr(1, kNewestTorchQuoted.size() - 2);

/// A minor release: {2, 13}. The rest ("2.13.1", "2.15.0a0+git1a2b") is ignored.
using TorchRelease = std::pair<int, int>;
std::optional<TorchRelease> torch_release(std::string_view version);

/// 214 for 2.14, as the emitted C++ compares them.
constexpr int release_number(const TorchRelease& release) { return release.first * 100 + release.second; }

/// Both ends included: ("2.13", "2.15") -> ">=2.13,<2.16", as pip has it.
std::string torch_requirement(std::string_view min, std::string_view max);

/// The minor releases from one to the other, both included: "2.13", "2.14", "2.15".
std::vector<std::string> torch_releases(std::string_view min, std::string_view max);

/// The command that installs a supported one.
std::string install_torch();

/// The releases that declare an operator; an empty end means the end of the supported range.
struct OpRelease {
  std::string_view op;            // "cholesky"
  std::string_view since, until;  // "", "2.13"
};

/// Null for an operator that every supported release has, or none of them.
const OpRelease* find_op_release(std::string_view op);

}  // namespace openreg_gen
