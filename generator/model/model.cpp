#include "model/model.h"

#include "diag/text.h"
#include "model/ops.h"
#include "releases/releases.h"
#include "spec/keys.h"
#include "strategy/item.h"
#include "texts/escape.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

using nlohmann::json;

json text_forms(const std::string& text) {
  return {{"text", comment_text(text)}, {"cpp", cpp_literal(text)},     {"py", python_literal(text)},
          {"toml", toml_literal(text)}, {"cmake", cmake_literal(text)}, {"md", markdown_text(text)}};
}

/// "2.13.1" -> "2.13"
std::string series(const std::string& version) {
  const auto release = torch_release(version).value_or(TorchRelease{});
  return fmt::format("{}.{}", release.first, release.second);
}

json backend(const BackendSpec& b) {
  const std::string& name = b.name.value;
  return {
      {"name", name},
      {"NAME", upper_case(name)},
      {"Name", *b.class_prefix},
      {"api", *b.api_prefix},
      {"API", upper_case(name)},
      {"package", *b.package},
      {"ns", *b.cpp_namespace},
      {"version", *b.version},
      {"license", *b.license},
      {"vendor", text_forms(*b.vendor)},
      {"description", text_forms(*b.description)},
  };
}

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

json allocator_context(const AllocatorSpec& allocator) {
  const bool direct = allocator.device.value == DeviceAllocatorKind::Direct;
  const bool pluggable = allocator.device.value == DeviceAllocatorKind::Pluggable;
  return {{"device", direct      ? "direct"
                     : pluggable ? "pluggable"
                                 : "caching"},
          {"direct", direct},
          {"caching", !direct},  // pluggable is caching, until it is changed at run time
          {"pluggable", pluggable},
          {"file", direct ? "csrc/runtime/DirectAllocator.cpp" : "csrc/runtime/caching/CachingAllocator.cpp"},
          {"alignment", allocator.alignment.value},
          {"settings", allocator_settings(allocator)},
          {"max_split_size",
           allocator.max_split_size_mb.given() ? *allocator.max_split_size_mb * (std::int64_t{1} << 20) : -1}};
}

/// `cpu`: operators without a kernel run on the CPU, in one way or the other.
json fallback(const FallbackSpec& spec) {
  const FallbackKind kind = spec.kind.value;
  const auto words = find_key("fallback.kind")->values;
  return {{"kind", words[static_cast<std::size_t>(kind)]},
          {"enumerator", fallback_enumerator(kind)},
          {"cpu", kind != FallbackKind::None},
          {"alias", kind == FallbackKind::Alias},
          {"warn_once", spec.warn_once.value}};
}

}  // namespace

json make_globals(const Resolved& resolved, const std::string& spec_file, Subjects& subjects) {
  const Spec& spec = resolved.spec;
  const bool emulator = spec.device.api.value == DeviceApi::Emulator;
  json globals = {
      {"b", backend(spec.backend)},
      {"tool", {{"version", OPENREG_GEN_VERSION}}},
      {"spec", {{"file", spec_file}}},
      {"torch",
       {{"min", series(*spec.torch.min)},
        {"max", series(*spec.torch.max)},
        {"min_number", release_number(torch_release(*spec.torch.min).value_or(TorchRelease{}))},
        {"max_number", release_number(torch_release(*spec.torch.max).value_or(TorchRelease{}))},
        {"version", resolved.catalog.torch_version()},
        {"requirement", torch_requirement(spec.torch.min.value, spec.torch.max.value)}}},
      {"device",
       {{"api", emulator ? "emulator" : "external"},
        {"emulator", emulator},
        {"external", !emulator},
        {"count", spec.device.count.value},
        {"memory", spec.device.memory.value},
        {"streams_per_pool", spec.device.streams_per_pool.value}}},
      {"allocator", allocator_context(spec.allocator)},
      {"fallback", fallback(spec.fallback)},
      {"compile", {{"on", spec.compile.value}}},
      {"profiler", {{"on", spec.profiler.value}}},
  };
  add_operators(globals, resolved, subjects);
  return globals;
}

json job_context(const Output& output, const json& globals) {
  return {{"file",
           {{"header", header_text({output.path, output.file_class, output.key, output.id},
                                   globals["spec"]["file"].get<std::string>())},
            {"path", output.path},
            {"class", to_string(output.file_class)}}}};
}

}  // namespace openreg_gen
