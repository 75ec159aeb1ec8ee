// From the checked tree to the structs of spec.h.
#include "releases/releases.h"
#include "spec/component_texts.h"
#include "spec/read_keys.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace openreg_gen {
namespace {

template <typename T>
void power_of_two(const SpecValue<T>& value, std::string_view key, Diagnostics& diagnostics) {
  const auto number = static_cast<std::uint64_t>(*value);
  if (!value.given() || std::has_single_bit(number)) return;
  diagnostics.error("E0139", value.at, fmt::format("'{}' {} is not a power of two", key, number),
                    fmt::format("such as {}", std::bit_floor(number)));
}

/// Reports what contradicts itself. `map`: the node of `allocator`, which may be null.
void check_allocator(const AllocatorSpec& allocator, const Node* map, Diagnostics& diagnostics) {
  power_of_two(allocator.alignment, "alignment", diagnostics);
  power_of_two(allocator.roundup_power2_divisions, "roundup_power2_divisions", diagnostics);
  const double threshold = *allocator.garbage_collection_threshold;
  if (allocator.garbage_collection_threshold.given() && (threshold <= 0 || threshold >= 1)) {
    diagnostics.error("E0117", allocator.garbage_collection_threshold.at,
                      fmt::format("'garbage_collection_threshold' is {}, not between 0 and 1", threshold),
                      "leave it out to never collect");
  }
  const AllocatorKind* kind = *allocator.device;
  if (kind == nullptr || kind->caches) return;
  for (const auto key :
       {"max_split_size_mb", "garbage_collection_threshold", "roundup_power2_divisions", "expandable_segments"}) {
    if (const Node* node = find(map, key)) {
      diagnostics.warning("E0141", node->at, fmt::format("'{}' has no effect with `device: {}`", key, kind->word),
                          "it is a setting of the caching allocator");
    }
  }
}

class Parse {
 public:
  Parse(Spec& spec, const Vocabulary& vocabulary, Diagnostics& diagnostics)
      : spec_(spec), vocabulary_(vocabulary), diagnostics_(diagnostics) {}

  void run() {
    const auto document = read_document(spec_.text, spec_.path, diagnostics_);
    if (document) root_ = check_shape(*document, vocabulary_, diagnostics_);
    const Node* backend = root_.find("backend");
    const Node* name = find(backend, "name");
    read_keys(spec_, "", &root_, name == nullptr ? std::string_view() : name->text);
    Diagnostics unread;  // of what can't be read nothing more is said
    settle_components(spec_, root_.find("components"), document ? diagnostics_ : unread);
    if (document) {
      check_torch();
      check_device(root_.find("device"));
      check_allocator(spec_.allocator, root_.find("allocator"), diagnostics_);
      if (const auto& grows = spec_.allocator.expandable_segments; grows.value)
        needs_component("virtual_memory", grows.at, "`expandable_segments: true`");
      ops(root_.find("ops"));
      spec_.custom_ops = read_custom_ops(root_.find("custom_ops"), spec_.text, diagnostics_);
      if (const Node* custom = root_.find("custom_ops"); custom != nullptr && !spec_.custom_ops.empty())
        needs_component("loops", custom->at, "`custom_ops`");
      if (*spec_.fallback.kind == FallbackKind::Alias)
        needs_component("host_alias", spec_.fallback.kind.at, "`fallback: alias`");
      read_tests(spec_.tests, root_.find("tests"), diagnostics_);
    }
    diagnostics_.finish(without_byte_order_mark(spec_.text));
  }

 private:
  void check_torch() {
    const auto& t = spec_.torch;
    if (torch_release(*t.min) > torch_release(*t.max)) {
      const bool at_max = t.max.given();
      diagnostics_.error("E0138", at_max ? t.max.at : t.min.at,
                         fmt::format("torch.max {} is below torch.min {}", *t.max, *t.min),
                         at_max ? "" : fmt::format("the default of 'max' is {}", *t.max));
      return;
    }
    const auto beyond = [&](const SpecValue<std::string>& end, std::string_view key, bool is) {
      if (!is || !end.given()) return;
      diagnostics_.warning("E0142", end.at, fmt::format("nothing was ever tested with PyTorch {}", *end),
                           fmt::format("torch.{}: from {} to {}", key, kOldestTorch, kNewestTorch));
    };
    beyond(t.min, "min", torch_release(*t.min) < torch_release(kOldestTorch));
    beyond(t.max, "max", torch_release(*t.max) > torch_release(kNewestTorch));
  }

  void check_device(const Node* device) {
    const DeviceKind& kind = **spec_.device.api;
    auto& kernels = spec_.device.kernels;
    if (!kind.has_key("kernels"))
      kernels.value = find_kernel_language(kind.kernels);
    else if (*kernels != nullptr)
      needs_component("loops", kernels.at, fmt::format("`kernels: {}`", (*kernels)->word));
    if (!kind.simulated && *spec_.fallback.kind == FallbackKind::Alias) {
      diagnostics_.warning("E0231", spec_.fallback.kind.at, "`alias` needs a device whose memory the host can reach",
                           "unless the port says hostAccessible, operators fall back on copies");
    }
    if (kind.compiles && !spec_.fallback.kind.given()) spec_.fallback.kind.value = FallbackKind::Graph;
    needs_compiler(spec_.fallback.kind);
    if (device == nullptr) return;
    for (const auto& [key, node] : device->entries) {
      const auto has_key = [&](const DeviceKind& other) { return other.has_key(key.text); };
      if (kind.has_key(key.text)) continue;
      const auto owner = std::ranges::find_if(device_kinds(), has_key);
      if (owner == device_kinds().end()) continue;  // a key of all kinds
      diagnostics_.warning(
          "E0141", node.at, fmt::format("'{}' has no effect with `api: {}`", key.text, kind.word),
          owner->simulated ? "the device itself reports it" : fmt::format("it is a key of `api: {}`", owner->word));
    }
  }

  void ops(const Node* map) {
    if (map == nullptr) return;
    for (const auto& [name, node] : map->entries) {
      OpSpec op;
      op.name = {name.text, name.at};
      read_keys(op, "ops.*", &node);
      for (const auto& strategy : vocabulary_.strategies)
        if (!op.strategy.given() && node.find(strategy.implied_by) != nullptr) op.strategy.value = strategy.word;
      read_skips(op.tests, node.find("tests"), diagnostics_);
      if (op.since.given() && op.until.given() && torch_release(*op.since) > torch_release(*op.until))
        diagnostics_.error("E0177", op.until.at, fmt::format("'until' {} is before 'since' {}", *op.until, *op.since));
      if (name.text.starts_with('-') && !node.entries.empty()) {
        diagnostics_.error("E0176", node.at, fmt::format("'{}' removes operators and has no value", name.text),
                           fmt::format("write `- \"{}\"` in a list, `\"{}\":` in a map", name.text, name.text));
        continue;
      }
      for (const auto& [key, expr] : {std::pair{"expr", &op.expr},
                                      {"map", &op.map},
                                      {"combine", &op.combine},
                                      {"init", &op.init},
                                      {"finish", &op.finish},
                                      {"prefer", &op.prefer}}) {
        if (expr->given()) report_expression(**expr, key, *node.find(key), spec_.text, diagnostics_);
      }
      fits_strategy(op, node);
      if (*op.strategy == "graph") op.fallback = {FallbackKind::Graph, op.strategy.at};
      if (op.fallback.given() && *op.fallback == FallbackKind::Alias)
        needs_component("host_alias", op.fallback.at, "`fallback: alias`");
      if (op.fallback.given()) needs_compiler(op.fallback);
      spec_.ops.push_back(std::move(op));
    }
  }

  void needs_compiler(const SpecValue<FallbackKind>& fallback) {
    const DeviceKind& kind = **spec_.device.api;
    if (*fallback != FallbackKind::Graph || kind.compiles) return;
    diagnostics_.error("E0183", fallback.at,
                       fmt::format("`graph` needs a graph compiler, and the device is `api: {}`", kind.word),
                       "write `device: {api: compiler}`, or another way: `cpu_fallback`, or `fallback: cpu`");
  }

  void needs_component(std::string_view name, const Location& at, const std::string& what) {
    if (spec_.components.has(name)) return;
    const Component& component = *find_component(name);
    if (component.launches && (**spec_.device.api).compiles) return report_no_launches(component, at, diagnostics_);
    diagnostics_.error("E0182", at, fmt::format("{} needs component '{}', which is off", what, name),
                       how_to_add(spec_.components, component));
  }

  void fits_strategy(const OpSpec& op, const Node& node) {
    const auto& strategy = *find_by(vocabulary_.strategies, *op.strategy, &Vocabulary::Strategy::word);
    if (!strategy.component.empty())
      needs_component(strategy.component, op.strategy.given() ? op.strategy.at : op.name.at,
                      fmt::format("'{}' as '{}'", *op.name, strategy.word));
    for (const auto& [key, value] : node.entries) {
      std::vector<std::string_view> with;  // none: it goes with each
      for (const auto& each : vocabulary_.strategies)
        if (has_word(each.keys, key.text)) with.push_back(each.word);
      if (with.empty() || has_word(strategy.keys, key.text)) continue;
      std::ranges::sort(with);
      const std::string_view last = with.back();
      with.pop_back();
      diagnostics_.error("E0153", value.at,
                         fmt::format("'{}' has no meaning with strategy '{}'", key.text, strategy.word),
                         fmt::format("it is for {}{}{}", fmt::join(with, ", "), with.empty() ? "" : " and ", last));
    }
    if (strategy.written != nullptr) strategy.written(op, diagnostics_);
  }

  Spec& spec_;
  const Vocabulary& vocabulary_;
  Diagnostics& diagnostics_;
  Node root_;
};

}  // namespace

Spec::Spec() {
  read_keys(*this, "", nullptr);
  Diagnostics none;
  settle_components(*this, nullptr, none);
}
OpSpec::OpSpec() { read_keys(*this, "ops.*", nullptr); }

Spec parse_spec_text(std::string text, const fs::path& path, const Vocabulary& vocabulary, Diagnostics& diagnostics) {
  Spec spec;
  spec.path = path;
  spec.text = std::move(text);
  Parse(spec, vocabulary, diagnostics).run();
  return spec;
}

Spec parse_spec(const fs::path& path, const Vocabulary& vocabulary, Diagnostics& diagnostics) {
  if (auto text = read_spec_file(path, diagnostics))
    return parse_spec_text(std::move(*text), path, vocabulary, diagnostics);
  Spec spec;
  spec.path = path;
  return spec;
}

}  // namespace openreg_gen
