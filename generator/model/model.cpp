#include "model/model.h"

#include "base/text.h"
#include "releases/releases.h"
#include "spec/keys.h"
#include "spec/lessons.h"
#include "spec/rules.h"
#include "strategy/item.h"
#include "texts/escape.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

using nlohmann::json;

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

json forms(const std::string& text) {
  return {{"text", comment_text(text)}, {"cpp", cpp_literal(text)},     {"py", python_literal(text)},
          {"toml", toml_literal(text)}, {"cmake", cmake_literal(text)}, {"md", markdown_text(text)}};
}

json backend_model(const BackendSpec& spec) {
  return {{"name", *spec.name},
          {"NAME", upper_case(*spec.name)},
          {"is_taken", has_word(kTorchNames, "is_" + *spec.name)},  // "vulkan": tensors have is_vulkan
          {"Name", *spec.class_prefix},
          {"api", *spec.api_prefix},
          {"API", upper_case(*spec.name)},
          {"package", *spec.package},
          {"ns", *spec.cpp_namespace},
          {"version", *spec.version},
          {"license", *spec.license},
          {"vendor", forms(*spec.vendor)},
          {"description", forms(*spec.description)}};
}

json torch_model(const TorchSpec& spec, const std::string& installed) {
  return {{"min", series(*spec.min)},
          {"max", series(*spec.max)},
          {"min_number", number(*spec.min)},
          {"max_number", number(*spec.max)},
          {"version", installed},
          {"releases", torch_releases(series(*spec.min), series(*spec.max))},
          {"requirement", torch_requirement(*spec.min, *spec.max)}};
}

/// Which of the kinds it is, by their words.
template <class Kind>
json one_of(std::span<const Kind> kinds, const Kind& kind) {
  json out;
  for (const Kind& each : kinds) out[each.word] = each.word == kind.word;
  return out;
}

json device_model(const DeviceSpec& spec) {
  const DeviceKind& kind = **spec.api;
  json out = one_of(device_kinds(), kind);
  out.update({{"api", kind.word},
              {"external", kind.ported},  // a compiler's device has the files of an external one, and more
              {"hardware", !kind.simulated},
              {"count", *spec.count},
              // Hardware reports the values that are not given.
              {"memory", kind.simulated || spec.memory.given() ? *spec.memory : 0},
              {"platform", forms(*spec.platform)},
              {"type", *spec.type},
              {"sub_devices", *spec.sub_devices},
              {"streams_per_pool", *spec.streams_per_pool}});
  return out;
}

/// The device's language for kernels: kernel.FILE says which of all languages' sources it has.
json kernel_model(const DeviceKernels& kernels) {
  static constexpr KernelLanguage kNone{};
  const KernelLanguage& language = kernels ? *kernels.language : kNone;
  json out = {{"on", static_cast<bool>(kernels)}, {"title", language.title}, {"folder", language.folder},
              {"extension", language.extension},  {"entry", language.entry}, {"operators", kernels.operators}};
  // What the language calls dtypes.
  out["names"] = json::array();
  for (const auto& [dtype, name] : language.types) out["names"].push_back({{"dtype", dtype}, {"name", name}});
  for (const std::string& file : kernels.other_files) out[file] = false;
  for (const std::string& file : kernels.files) out[file] = true;
  out["owned"] = kernels.has("kernels/kernel");  // starts of kernels that are the owner's
  return out;
}

/// `blocks`: some allocator of the tree gets each block from the device, or from functions of the user.
json allocator_model(const AllocatorSpec& spec, bool pluggable) {
  const AllocatorKind& kind = **spec.device;
  const std::int64_t mib = std::int64_t{1} << 20;
  json out = one_of(allocator_kinds(), kind);
  out.update({{"caching", kind.caches},
              {"blocks", !kind.caches || pluggable},
              {"device", kind.word},
              {"file", kind.file},
              {"alignment", *spec.alignment},
              {"settings", allocator_settings(spec)},
              {"max_split_size", spec.max_split_size_mb.given() ? *spec.max_split_size_mb * mib : -1}});
  return out;
}

/// lesson.WORD: whether it is that lesson.
json lesson_model(int number) {
  json out = {{"on", number != 0}};
  for (std::size_t i = 0; i < kLessons.size(); ++i) out[kLessons[i]] = number == static_cast<int>(i) + 1;
  return out;
}

/// `cpu`: operators without a kernel run on the CPU, in one way or the other.
json fallback_model(const FallbackSpec& spec) {
  const FallbackKind kind = *spec.kind;
  return {{"kind", find_key("fallback.kind")->values[static_cast<std::size_t>(kind)]},
          {"enumerator", fallback_enumerator(kind)},
          {"cpu", kind != FallbackKind::None},
          {"alias", kind == FallbackKind::Alias},
          {"warn_once", *spec.warn_once}};
}

}  // namespace

json make_globals(const ResolvedSpec& resolved, const DeviceKernels& kernels, const std::string& spec_file,
                  Subjects& subjects) {
  const Spec& spec = resolved.spec;
  json has = json::object(), components = json::array();
  bool partial = false;
  const bool simulated = (**spec.device.api).simulated;
  for (const Component& component : all_components()) {
    const bool on = spec.components.has(component.name);
    has[component.name] = on;
    partial = partial || (!on && (simulated || !component.emulated));
    if (on && (simulated || !component.emulated))
      components.push_back({{"name", component.name}, {"about", component.about}});
  }
  json globals = {
      {"has", std::move(has)},
      // What stands in the place of component `device` where the tree does not have it.
      {"small", {{"device", !spec.components.has("device") && simulated}}},
      {"components", std::move(components)},
      {"partial", partial},  // some component is not there
      {"b", backend_model(spec.backend)},
      {"tool", {{"version", OPENREG_GEN_VERSION}}},
      {"spec", {{"file", spec_file}}},
      {"torch", torch_model(spec.torch, resolved.catalog.torch_version())},
      {"device", device_model(spec.device)},
      {"kernel", kernel_model(kernels)},
      {"allocator", allocator_model(spec.allocator, spec.components.has("pluggable"))},
      {"fallback", fallback_model(spec.fallback)},
      {"lesson", lesson_model(*spec.lesson)},
      // Whether an edit of a kernel compiles that file alone: with many files, and where each try of an exercise is a
      // build.
      {"units", {{"grouped", spec.components.has("loops") || *spec.lesson != 0}}},
      // Inductor's kernels are C++ for memory that the host reaches, or in the device's language.
      {"compile",
       {{"on", spec.compile.value},
        {"inductor", spec.compile.value && (spec.components.has("host_alias") || kernels.has("inductor"))}}},
      {"profiler", {{"on", spec.profiler.value}}},
      // Only an allocator with pools serves captures; without one, graphs are there and say so.
      {"graphs", {{"on", spec.graphs.value}, {"captured", spec.graphs.value && (**spec.allocator.device).caches}}},
      {"distributed",
       {{"on", spec.distributed.on.value},
        {"backend", *spec.distributed.backend},
        {"NAME", upper_case(*spec.distributed.backend)}}},
  };
  add_operators(globals, resolved, kernels, subjects);
  // A simulated device has nothing better for convolutions than the CPU's kernels, and a device without im2col kernels
  // has to copy images to the host anyway.
  const bool arranges = kernels.has("windows") || (!simulated && spec.components.has("host_alias"));
  globals["ops"]["gemm_convolution"] = !globals["ops"]["matmul"].empty() && arranges;
  // Reductions from expressions, in the device's language.
  globals["kernel"]["reduces"] = kernels.has("reduction") && globals["ops"]["reduces"].get<bool>();
  // Of structured operators, PyTorch's meta() makes the iterator.
  globals["ops"]["iterates"] =
      !spec.custom_ops.empty() || std::ranges::any_of(globals["ops"]["pointwise"],
                                                      [](const json& item) { return !item["structured"].get<bool>(); });
  // Its headers of torch.vmap, and of stack traces, include nlohmann/json.hpp.
  globals["torch"]["includes_json"] = !spec.custom_ops.empty() || spec.components.has("history");
  return globals;
}

json job_context(const Output& output) {
  return {{"file",
           {{"header", header_text({output.path, output.file_class, output.key, output.id})},
            {"path", output.path},
            {"class", to_string(output.file_class)}}}};
}

}  // namespace openreg_gen
