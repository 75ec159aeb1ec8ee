#include "releases/releases.h"

#include <fmt/format.h>

#include <charconv>

namespace openreg_gen {

std::optional<TorchRelease> torch_release(std::string_view version) {
  TorchRelease release;
  const char* const end = version.data() + version.size();
  const auto major = std::from_chars(version.data(), end, release.first);
  if (major.ec != std::errc() || release.first < 0 || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, release.second);
  if (minor.ec != std::errc() || release.second < 0) return std::nullopt;
  return release;
}

std::string torch_requirement(std::string_view min, std::string_view max) {
  const auto last = torch_release(max).value_or(TorchRelease{});
  return fmt::format(">={},<{}.{}", min, last.first, last.second + 1);
}

std::vector<std::string> torch_releases(std::string_view min, std::string_view max) {
  const auto first = torch_release(min).value_or(TorchRelease{}), last = torch_release(max).value_or(TorchRelease{});
  if (first.first != last.first) return {std::string(min), std::string(max)};
  std::vector<std::string> out;
  for (int minor = first.second; minor <= last.second; ++minor) out.push_back(fmt::format("{}.{}", first.first, minor));
  return out;
}

std::string install_torch() {
  return fmt::format("pip install 'torch{}'", torch_requirement(kOldestTorch, kNewestTorch));
}

}  // namespace openreg_gen
