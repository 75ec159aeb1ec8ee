#include "model/contexts.h"

#include "diag/text.h"
#include "releases/releases.h"
#include "spec/keys.h"
#include "strategy/item.h"
#include "texts/escape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

/// "2.13.1" -> "2.13"
std::string series(const std::string& version) {
  const auto release = torch_release(version).value_or(TorchRelease{});
  return fmt::format("{}.{}", release.first, release.second);
}

int number(const std::string& version) { return release_number(torch_release(version).value_or(TorchRelease{})); }

/// In the syntax of PYTORCH_ALLOC_CONF.
std::string allocator_settings(const AllocatorSpec& allocator) {
  std::vector<std::string> settings;
  const auto add = [&](const auto& value, std::string_view key, const auto& text) {
    if (value.given()) settings.push_back(fmt::format("{}:{}", key, text));
  };
  add(allocator.max_split_size_mb, "max_split_size_mb", *allocator.max_split_size_mb);
  add(allocator.garbage_collection_threshold, "garbage_collection_threshold", *allocator.garbage_collection_threshold);
  add(allocator.roundup_power2_divisions, "roundup_power2_divisions", *allocator.roundup_power2_divisions);
  add(allocator.expandable_segments, "expandable_segments", *allocator.expandable_segments ? "True" : "False");
  return fmt::format("{}", fmt::join(settings, ","));
}

}  // namespace

TextForms::TextForms(const std::string& written)
    : text(comment_text(written)),
      cpp(cpp_literal(written)),
      py(python_literal(written)),
      toml(toml_literal(written)),
      cmake(cmake_literal(written)),
      md(markdown_text(written)) {}

void BackendContext::print(Fields out) const {
  out("name", *spec.name)("NAME", upper_case(*spec.name))("Name", *spec.class_prefix)("api", *spec.api_prefix)(
      "API", upper_case(*spec.name))("package", *spec.package)("ns", *spec.cpp_namespace)("version", *spec.version)(
      "license", *spec.license)("vendor", TextForms(*spec.vendor))("description", TextForms(*spec.description));
}

void TorchContext::print(Fields out) const {
  out("min", series(*spec.min))("max", series(*spec.max))("min_number", number(*spec.min))(
      "max_number", number(*spec.max))("version", version)("requirement", torch_requirement(*spec.min, *spec.max));
}

void DeviceContext::print(Fields out) const {
  const DeviceKind& kind = **spec.api;
  for (const DeviceKind& each : device_kinds()) out(std::string(each.word).c_str(), each.word == kind.word);
  // What is not given is the device's own to say where it is hardware.
  const std::uint64_t memory = kind.simulated || spec.memory.given() ? *spec.memory : 0;
  out("api", kind.word)("hardware", !kind.simulated)("count", *spec.count)("memory", memory)(
      "platform", TextForms(*spec.platform))("type", *spec.type)("sub_devices", *spec.sub_devices)(
      "streams_per_pool", *spec.streams_per_pool);
}

void AllocatorContext::print(Fields out) const {
  const AllocatorKind& kind = **spec.device;
  for (const AllocatorKind& each : allocator_kinds()) out(std::string(each.word).c_str(), each.word == kind.word);
  const std::int64_t mib = std::int64_t{1} << 20;
  out("caching", kind.caches)("device", kind.word)("file", kind.file)("alignment", *spec.alignment)(
      "settings", allocator_settings(spec))("max_split_size",
                                            spec.max_split_size_mb.given() ? *spec.max_split_size_mb * mib : -1);
}

/// `cpu`: operators without a kernel run on the CPU, in one way or the other.
void FallbackContext::print(Fields out) const {
  const FallbackKind kind = *spec.kind;
  out("kind", find_key("fallback.kind")->values[static_cast<std::size_t>(kind)])(
      "enumerator", fallback_enumerator(kind))("cpu", kind != FallbackKind::None)("alias", kind == FallbackKind::Alias)(
      "warn_once", *spec.warn_once);
}

}  // namespace openreg_gen
