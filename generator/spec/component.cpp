#include "spec/component.h"

#include "base/text.h"
#include "spec/component_texts.h"
#include "spec/document.h"
#include "spec/read_keys.h"
#include "spec/spec.h"

#include <fmt/ranges.h>

#include <map>

namespace openreg_gen {
namespace {

using enum Profile;

// clang-format off
constexpr Component kComponents[] = {
    {.name = "device", .about = "the full simulated device: memory that the host can't touch, explanations of misuse, every function of the C API", .emulated = true},
    {.name = "errors", .about = "errors of launched functions: kept per device, and reported by the next launch or wait", .needs = "device"},
    {.name = "memory", .about = "pinned host memory; limits, observers and snapshots of device memory", .needs = "device"},
    {.name = "loops", .about = "kernels from expressions, and PyTorch's CPU kernels by name", .needs = "errors memory"},
    {.name = "host_alias", .about = "host code that runs on device memory in stream order, if launched functions can reach it", .needs = "loops", .host_memory = true, .launches = true},
    {.name = "compound", .about = "sparse, nested and quantized tensors, on the CPU", .since = Full, .needs = "loops"},
    {.name = "wider_dtypes", .about = "dtypes that CUDA's kernels accept and the CPU's refuse, computed in wider ones", .since = Full, .needs = "loops"},
    {.name = "gemm", .about = "matrix products by one function of the device, and convolutions built on it", .needs = "loops"},
    {.name = "recurrent", .about = "LSTM and GRU layers: the fused cells that PyTorch requests from a device", .needs = "loops"},
    {.name = "virtual_memory", .about = "virtual memory: segments of the caching allocator that grow in place", .since = Full, .needs = "loops"},
    {.name = "pools", .about = "memory pools, for users and for graphs", .since = Full, .needs = "loops"},
    {.name = "fallback_report", .about = "counts what fell back to the CPU, with its cost", .needs = "loops"},
    {.name = "caching", .about = "the caching allocator: freed memory is reused", .needs = "memory", .key = "allocator.device"},
    {.name = "pluggable", .about = "allocators that a process loads from shared libraries", .since = Full, .needs = "pools"},
    {.name = "history", .about = "snapshots of memory, and the history of allocations", .since = Full, .needs = "loops"},
    {.name = "ipc", .about = "tensors shared between processes", .since = Full, .needs = "loops"},
    {.name = "amp", .about = "automatic mixed precision: autocast and the gradient scaler"},
    {.name = "serialization", .about = "the backend's own metadata in saved tensors"},
    {.name = "compile", .about = "`torch.compile`, with PyTorch's Inductor", .needs = "loops", .key = "compile"},
    {.name = "profiler", .about = "`torch.profiler` shows the device's work", .needs = "loops", .key = "profiler"},
    {.name = "graphs", .about = "graphs: streams that are captured and replayed", .since = Full, .needs = "pools", .key = "graphs", .launches = true},
    {.name = "distributed", .about = "`torch.distributed`: collectives between processes", .since = Full, .needs = "loops", .key = "distributed"},
    {.name = "extensions", .about = "headers for C++ outside the tree that uses streams and guards", .since = Full, .needs = "loops"},
    {.name = "sanitizer", .about = "`openreg-gen sanitize` finds races of streams: callbacks for what the runtime does"},
    {.name = "testing", .about = "tests each operator of the spec against the CPU, with PyTorch's samples", .needs = "loops"},
    {.name = "examples", .about = "more scripts that train and run networks", .since = Full, .needs = "recurrent amp"},
    {.name = "ci", .about = "GitHub workflows: pull requests, PyTorch's nightly build, wheels, and PyTorch's cross-repository CI", .since = Full},
    {.name = "cpp_tests", .about = "C++ tests of the device and the runtime", .since = Full, .needs = "loops"},
};
// clang-format on
static_assert(std::size(kComponents) <= 32);

std::size_t index_of(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(kComponents, name, &Component::name) - std::begin(kComponents));
}

void collect_missing(const ComponentSet& set, const Component& component, std::vector<std::string_view>& out) {
  if (set.has(component.name) || contains(out, component.name)) return;
  for (const std::string_view need : words_of(component.needs)) collect_missing(set, *find_component(need), out);
  out.push_back(component.name);
}

/// What a separate key of the spec says about a component: `compile: false`, `allocator: {device: direct}`.
std::optional<std::pair<bool, Location>> said_by_key(const Spec& spec, std::string_view name) {
  const auto of = [](const SpecValue<bool>& value) -> std::optional<std::pair<bool, Location>> {
    if (!value.given()) return std::nullopt;
    return std::pair(value.value, value.at);
  };
  if (const SpecValue<bool>* own = switch_of(spec, name)) return of(*own);
  const auto& kind = spec.allocator.device;
  if (!kind.given() || *kind == nullptr) return std::nullopt;
  if (name == "caching") return std::pair((**kind).caches, kind.at);
  if (name == "pluggable" && (**kind).word != "caching") return std::pair((**kind).word == "pluggable", kind.at);
  return std::nullopt;
}

}  // namespace

std::span<const Component> all_components() { return kComponents; }

const Component* find_component(std::string_view name) { return find_by(kComponents, name, &Component::name); }

std::vector<std::string_view> component_names() { return mapped(kComponents, &Component::name); }

bool ComponentSet::has(std::string_view name) const {
  const std::size_t index = index_of(name);
  return index < std::size(kComponents) && on_[index];
}

void ComponentSet::set(std::string_view name, bool on) {
  if (const std::size_t index = index_of(name); index < std::size(kComponents)) on_[index] = on;
}

std::vector<std::string_view> ComponentSet::missing(const Component& component) const {
  std::vector<std::string_view> out;
  collect_missing(*this, component, out);
  return out;
}

std::vector<std::string_view> ComponentSet::dependents(const Component& component) const {
  std::vector<std::string_view> out{component.name};
  for (const Component& other : kComponents) {  // those that others need come first, so one pass finds all
    const bool needs = any_word(other.needs, [&](std::string_view need) { return contains(out, need); });
    if (has(other.name) && needs) out.push_back(other.name);
  }
  out.erase(out.begin());
  return out;
}

void report_no_launches(const Component& component, const Location& at, Diagnostics& diagnostics) {
  diagnostics.error("E0184", at,
                    fmt::format("component '{}' needs functions that a stream runs, and the device is `api: compiler`",
                                component.name),
                    fmt::format("leave '{}' out: the device only runs graphs that its compiler made", component.name));
}

void settle_components(Spec& spec, const Node* written, Diagnostics& diagnostics) {
  const bool simulated = (**spec.device.api).simulated, compiles = (**spec.device.api).compiles;
  std::map<std::string_view, std::pair<bool, Location>> said;
  for (const Component& component : kComponents) {
    // A port has the whole API, and on few vendors' devices the host reaches the memory.
    bool on = component.since <= *spec.profile || (component.emulated && !simulated);
    if ((component.host_memory && !simulated) || (component.launches && compiles)) on = false;
    auto by_key = said_by_key(spec, component.name);
    if (const Node* node = find(written, component.name)) {
      const bool wanted = node->text.starts_with('t') || node->text.starts_with('T');
      if (by_key && by_key->first != wanted) {
        diagnostics.error(
            "E0180", node->at,
            fmt::format("'{}' is {} here and {} by '{}'", component.name, wanted ? "on" : "off", wanted ? "off" : "on",
                        component.name == "pluggable" ? "allocator.device" : component.key),
            "keep one");
      }
      by_key = std::pair(wanted, node->at);
    }
    if (by_key) {
      on = by_key->first;
      if (on && component.launches && compiles) report_no_launches(component, by_key->second, diagnostics);
      said.emplace(component.name, *by_key);
    }
    spec.components.set(component.name, on);
  }
  for (const Component& component : kComponents) {
    if (!spec.components.has(component.name)) continue;
    for (const std::string_view need : words_of(component.needs)) {
      if (spec.components.has(need)) continue;
      const auto wanted = said.find(component.name), refused = said.find(need);
      const bool asked = wanted != said.end();
      diagnostics.error("E0181",
                        asked                   ? wanted->second.second
                        : refused != said.end() ? refused->second.second
                                                : spec.profile.at,
                        fmt::format("component '{}' needs '{}', which is off", component.name, need),
                        asked ? how_to_add(spec.components, *find_component(need))
                              : fmt::format("under `components:` write `{}: false`, too", component.name));
    }
  }
  for (const Component& component : kComponents)
    if (SpecValue<bool>* own = switch_of(spec, component.name)) own->value = spec.components.has(component.name);
  if (!spec.allocator.device.given())
    spec.allocator.device.value = find_allocator_kind(spec.components.has("caching") ? "caching" : "direct");
}

}  // namespace openreg_gen
