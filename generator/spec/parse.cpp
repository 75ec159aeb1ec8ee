// From the checked tree to the structs of spec.h.
#include "catalog/releases.h"
#include "spec/names.h"
#include "spec/parse_allocator.h"
#include "spec/parse_custom_ops.h"
#include "spec/parse_tests.h"
#include "spec/read_keys.h"
#include "spec/shape.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

class Parse {
 public:
  Parse(Spec& spec, Diagnostics& diagnostics) : spec_(spec), diagnostics_(diagnostics) {}

  void run() {
    set_defaults();
    const auto document = read_document(spec_.text, spec_.path, diagnostics_);
    if (document) {
      root_ = check_shape(*document, diagnostics_);
      backend(root_.find("backend"));
      torch(root_.find("torch"));
      device(root_.find("device"), root_.find("fallback"));
      spec_.allocator = read_allocator(root_.find("allocator"), diagnostics_);
      ops(root_.find("ops"));
      spec_.custom_ops = read_custom_ops(root_.find("custom_ops"), spec_.text, diagnostics_);
      spec_.tests = read_tests(root_.find("tests"), diagnostics_);
      amp(root_.find("amp"));
      read(spec_.compile, &root_, "compile");
      read(spec_.templates, &root_, "templates");
    }
    name_defaults();
    diagnostics_.finish(spec_.text.starts_with("\xEF\xBB\xBF") ? std::string_view(spec_.text).substr(3) : spec_.text);
  }

 private:
  void set_defaults() {
    spec_.backend.version.value = "0.1.0";
    spec_.backend.license.value = "BSD-3-Clause";
    spec_.torch.min.value = kOldestTorch;
    spec_.torch.max.value = kNewestTorch;
    spec_.device.count.value = 2;
    spec_.device.memory.value = std::uint64_t{1} << 30;
    spec_.device.streams_per_pool.value = 4;
    spec_.fallback.kind.value = FallbackKind::Cpu;
    spec_.amp.dtypes.value = {{"float16", {}}, {"bfloat16", {}}};
    spec_.amp.preset.value = "cuda";
    spec_.compile.value = true;
  }

  void name_defaults() {
    auto& b = spec_.backend;
    const std::string& name = b.name.value;
    const auto fill = [](Located<std::string>& into, std::string text) {
      if (!into.given()) into.value = std::move(text);
    };
    fill(b.package, "torch_" + name);
    fill(b.cpp_namespace, name);
    fill(b.class_prefix, camel_case(name));
    fill(b.api_prefix, lower_camel_case(name));
    fill(b.vendor, "The " + name + " authors");
    fill(b.description, "A PyTorch backend for the " + name + " device.");
  }

  void backend(const Node* map) {
    auto& b = spec_.backend;
    read(b.name, map, "name");
    read(b.package, map, "package");
    read(b.cpp_namespace, map, "namespace");
    read(b.class_prefix, map, "class_prefix");
    read(b.api_prefix, map, "api_prefix");
    read(b.vendor, map, "vendor");
    read(b.description, map, "description");
    read(b.version, map, "version");
    read(b.license, map, "license");
  }

  void torch(const Node* map) {
    auto& t = spec_.torch;
    read(t.min, map, "min");
    read(t.max, map, "max");
    if (parse_torch_version(*t.min) > parse_torch_version(*t.max)) {
      const bool at_max = t.max.given();
      diagnostics_.error("E0138", at_max ? t.max.at : t.min.at,
                         fmt::format("torch.max {} is below torch.min {}", *t.max, *t.min),
                         at_max ? "" : fmt::format("'max' is {} where it is not given", *t.max));
    }
  }

  void device(const Node* device, const Node* fallback) {
    read_word(spec_.device.api, device, "api", "device.api");
    read(spec_.device.count, device, "count");
    read(spec_.device.memory, device, "memory");
    read(spec_.device.streams_per_pool, device, "streams_per_pool");
    read_word(spec_.fallback.kind, fallback, "kind", "fallback.kind");
    read(spec_.fallback.warn_once, fallback, "warn_once");
    if (*spec_.device.api == DeviceApi::External) {
      if (*spec_.fallback.kind == FallbackKind::Alias) {
        diagnostics_.warning("E0231", spec_.fallback.kind.at, "`alias` needs a device whose memory the host can reach",
                             "where the port does not say hostAccessible, operators fall back by copying");
      }
      for (const auto key : {"count", "memory"}) {
        if (const Node* node = find(device, key)) {
          diagnostics_.warning("E0141", node->at, fmt::format("'{}' has no effect with `api: external`", key),
                               "the device itself says it");
        }
      }
    }
  }

  void ops(const Node* map) {
    if (map == nullptr) return;
    for (const auto& [name, node] : map->entries) {
      OpSpec op;
      op.name = {name.text, name.at};
      op.strategy.value = Strategy::Native;
      read_word(op.strategy, &node, "strategy", "ops.*.strategy");
      read(op.expr, &node, "expr");
      read(op.map, &node, "map");
      read(op.combine, &node, "combine");
      read(op.init, &node, "init");
      read(op.finish, &node, "finish");
      read(op.prefer, &node, "prefer");
      op.dtypes.value = read_list(&node, "dtypes", &op.dtypes.at);
      read(op.override_composite, &node, "override");
      read(op.reason, &node, "reason");
      read_word(op.fallback, &node, "fallback", "ops.*.fallback");
      if (op.fallback.given() && !op.strategy.given()) op.strategy.value = Strategy::CpuFallback;
      op.tests = read_op_tests(node.find("tests"), diagnostics_);
      read(op.since, &node, "since");
      read(op.until, &node, "until");
      if (op.since.given() && op.until.given() && parse_torch_version(*op.since) > parse_torch_version(*op.until))
        diagnostics_.error("E0177", op.until.at, fmt::format("'until' {} is before 'since' {}", *op.until, *op.since));
      if (name.text.starts_with('-') && !node.entries.empty()) {
        diagnostics_.error("E0176", node.at, fmt::format("'{}' takes operators out and has no value", name.text),
                           fmt::format("write `- \"{}\"` in a list, `\"{}\":` in a map", name.text, name.text));
        continue;
      }
      for (const auto key : {"expr", "map", "combine", "init", "finish", "prefer"})
        read_expression(&node, key, spec_.text, diagnostics_);
      fits_strategy(op);
      spec_.ops.push_back(std::move(op));
    }
  }

  void fits_strategy(const OpSpec& op) {
    const auto words = find_key("ops.*.strategy")->values;
    const auto word = words[static_cast<std::size_t>(*op.strategy)];
    const auto misplaced = [&](const auto& value, std::string_view key, std::string_view strategies) {
      if (value.given())
        diagnostics_.error("E0153", value.at, fmt::format("'{}' has no meaning with strategy '{}'", key, word),
                           fmt::format("it goes with {}", strategies));
    };
    if (*op.strategy == Strategy::Pointwise) {
      if (!op.expr.given())
        diagnostics_.error("E0152", op.name.at, fmt::format("'{}' is pointwise, but has no 'expr'", *op.name),
                           "such as `expr: self * other`");
    } else {
      misplaced(op.expr, "expr", "pointwise");
    }
    if (*op.strategy == Strategy::Reduction && op.prefer.given()) {
      for (const auto& [key, value] : {std::pair{"combine", &op.combine}, {"init", &op.init}, {"finish", &op.finish}}) {
        if (value->given())
          diagnostics_.error("E0229", value->at, fmt::format("'{}' has no meaning beside 'prefer'", key),
                             "`prefer` picks one of the elements; it goes with `map` alone");
      }
    } else if (*op.strategy == Strategy::Reduction) {
      if (!op.combine.given() || !op.init.given())
        diagnostics_.error(
            "E0220", op.name.at,
            fmt::format("'{}' is a reduction, but has no '{}'", *op.name, op.combine.given() ? "init" : "combine"),
            "such as `combine: a + b` and `init: 0`; of argmax and its like, `prefer: a > b || a != a`");
    } else {
      for (const auto& [key, value] : {std::pair{"map", &op.map},
                                       {"combine", &op.combine},
                                       {"init", &op.init},
                                       {"finish", &op.finish},
                                       {"prefer", &op.prefer}})
        misplaced(*value, key, "reduction");
    }
    const bool takes_dtypes =
        *op.strategy == Strategy::Pointwise || *op.strategy == Strategy::Stub || *op.strategy == Strategy::Reduction;
    if (!takes_dtypes) misplaced(op.dtypes, "dtypes", "pointwise, reduction and stub");
    if (*op.strategy != Strategy::CpuFallback) {
      if (!takes_dtypes) misplaced(op.fallback, "fallback", "cpu_fallback, pointwise, reduction and stub");
    } else if (op.strategy.given() && op.fallback.given() && *op.fallback == FallbackKind::None) {
      diagnostics_.error("E0230", op.fallback.at,
                         fmt::format("'{}' is to run on the CPU, and not to fall back", *op.name),
                         "leave 'strategy' out: it is an error to call the operator then");
    }
    if (*op.strategy == Strategy::Unsupported) {
      if (!op.reason.given())
        diagnostics_.error("E0154", op.name.at, fmt::format("'{}' is unsupported, but has no 'reason'", *op.name),
                           "say what the user is to be told: `reason: ...`");
    } else {
      misplaced(op.reason, "reason", "unsupported");
    }
  }

  void amp(const Node* map) {
    Location at;
    auto dtypes = read_list(map, "dtypes", &at);
    if (at.line != 0) spec_.amp.dtypes = {std::move(dtypes), at};
    read(spec_.amp.preset, map, "preset");
    if (const Node* add = find(map, "add")) {
      for (const auto& [policy, list] : add->entries) spec_.amp.add[policy.text] = read_list(add, policy.text);
    }
    spec_.amp.remove = read_list(map, "remove");
  }

  Spec& spec_;
  Diagnostics& diagnostics_;
  Node root_;
};

}  // namespace

Spec parse_spec_text(std::string text, const std::filesystem::path& path, Diagnostics& diagnostics) {
  Spec spec;
  spec.path = path;
  spec.text = std::move(text);
  Parse(spec, diagnostics).run();
  return spec;
}

Spec parse_spec(const std::filesystem::path& path, Diagnostics& diagnostics) {
  auto text = read_spec_file(path, diagnostics);
  if (text) return parse_spec_text(std::move(*text), path, diagnostics);
  Spec spec;
  spec.path = path;
  return spec;
}

}  // namespace openreg_gen
