// From the checked tree to the structs of spec.h.
#include "spec/expr.h"
#include "spec/op_schema.h"
#include "spec/parse_tests.h"
#include "spec/names.h"
#include "spec/rules.h"
#include "spec/shape.h"
#include "spec/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace openreg_gen {
namespace {

const Node* find(const Node* map, std::string_view key) { return map == nullptr ? nullptr : map->find(key); }

template <typename T, typename Convert>
void read(Located<T>& into, const Node* map, std::string_view key, Convert convert) {
  if (const Node* node = find(map, key)) into = {convert(node->text), node->at};
}
void read(Located<std::string>& into, const Node* map, std::string_view key) {
  read(into, map, key, [](const std::string& text) { return text; });
}
void read(Located<int>& into, const Node* map, std::string_view key) {
  read(into, map, key, [](const std::string& text) { return std::stoi(text); });
}
void read(Located<bool>& into, const Node* map, std::string_view key) {
  read(into, map, key, [](const std::string& text) { return text[0] == 't' || text[0] == 'T'; });
}
void read(Located<std::uint64_t>& into, const Node* map, std::string_view key) {
  read(into, map, key, [](const std::string& text) { return parse_size(text).value_or(0); });
}

/// Words become the enumerator with the same place in the table's list of words.
template <typename T>
void read_word(Located<T>& into, const Node* map, std::string_view key, std::string_view path) {
  const auto values = find_key(path)->values;
  read(into, map, key,
       [&](const std::string& text) { return static_cast<T>(std::ranges::find(values, text) - values.begin()); });
}

std::vector<Located<std::string>> read_list(const Node* map, std::string_view key, Location* at = nullptr) {
  std::vector<Located<std::string>> result;
  const Node* list = find(map, key);
  if (list == nullptr) return result;
  if (at != nullptr) *at = list->at;
  for (const Node& item : list->items) result.push_back({item.text, item.at});
  return result;
}

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
      device(root_.find("device"), root_.find("allocator"), root_.find("fallback"));
      ops(root_.find("ops"));
      custom_ops(root_.find("custom_ops"));
      spec_.tests = read_tests(root_.find("tests"), diagnostics_);
      amp(root_.find("amp"));
      read(spec_.templates, &root_, "templates");
    }
    name_defaults();
    diagnostics_.finish(spec_.text.starts_with("\xEF\xBB\xBF") ? std::string_view(spec_.text).substr(3) : spec_.text);
  }

 private:
  void set_defaults() {
    spec_.backend.version.value = "0.1.0";
    spec_.backend.license.value = "BSD-3-Clause";
    spec_.torch.min.value = spec_.torch.max.value = "2.13";
    spec_.device.count.value = 2;
    spec_.device.memory.value = std::uint64_t{1} << 30;
    spec_.device.streams_per_pool.value = 4;
    spec_.allocator.device.value = DeviceAllocatorKind::Caching;
    spec_.allocator.alignment.value = 64;
    spec_.fallback.kind.value = FallbackKind::Cpu;
    spec_.amp.dtypes.value = {{"float16", {}}, {"bfloat16", {}}};
    spec_.amp.preset.value = "cuda";
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

  void device(const Node* device, const Node* allocator, const Node* fallback) {
    read_word(spec_.device.api, device, "api", "device.api");
    read(spec_.device.count, device, "count");
    read(spec_.device.memory, device, "memory");
    read(spec_.device.streams_per_pool, device, "streams_per_pool");
    read_word(spec_.allocator.device, allocator, "device", "allocator.device");
    read(spec_.allocator.alignment, allocator, "alignment");
    if (!std::has_single_bit(*spec_.allocator.alignment)) {
      diagnostics_.error("E0139", spec_.allocator.alignment.at,
                         fmt::format("'alignment' {} is no power of two", *spec_.allocator.alignment),
                         fmt::format("such as {}", std::bit_floor(*spec_.allocator.alignment)));
    }
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

  /// An error inside an expression, at its column.
  std::optional<Expr> expression(const Node* map, std::string_view key) {
    const Node* node = find(map, key);
    if (node == nullptr) return std::nullopt;
    Expr expr = parse_expr(node->text);
    if (!expr.error) return expr;
    auto& e = *expr.error;
    diagnostics_.error(e.code, place_inside(*node, e.offset, spec_.text), fmt::format("'{}': {}", key, e.message),
                       e.hint);
    return std::nullopt;
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
      for (const auto key : {"expr", "map", "combine", "init", "finish", "prefer"}) expression(&node, key);
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
    if (*op.strategy != Strategy::Pointwise && *op.strategy != Strategy::Stub && *op.strategy != Strategy::Reduction)
      misplaced(op.dtypes, "dtypes", "pointwise, reduction and stub");
    if (*op.strategy != Strategy::CpuFallback) {
      misplaced(op.fallback, "fallback", "cpu_fallback");
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

  void custom_ops(const Node* list) {
    if (list == nullptr) return;
    std::set<std::string> names;
    for (const Node& node : list->items) {
      const Node* schema_node = node.find("schema");
      if (schema_node == nullptr) continue;
      CustomOpSpec op;
      read(op.schema, &node, "schema");
      read(op.expr, &node, "expr");
      read_word(op.autograd, &node, "autograd", "custom_ops[].autograd");
      read(op.backward, &node, "backward");
      OpSchemaError error;
      const auto schema = parse_op_schema(op.schema.value, error);
      if (!schema)
        diagnostics_.error(error.code, place_inside(*schema_node, error.offset, spec_.text),
                           "'schema': " + error.message, error.hint);
      if (schema && !names.insert(schema->id()).second) {
        diagnostics_.error("E0163", op.schema.at, fmt::format("the custom operator '{}' is given twice", schema->name),
                           "keep one; an overload 'a.b' and an operator 'a_b' are one in C++");
      }
      custom_kernel(op, schema, node);
      spec_.custom_ops.push_back(std::move(op));
    }
  }

  void custom_kernel(const CustomOpSpec& op, const std::optional<OpSchema>& schema, const Node& node) {
    const bool autograd = *op.autograd != CustomAutograd::None;
    if (op.backward.given() && !autograd) {
      diagnostics_.error("E0164", op.backward.at, "'backward' has no meaning without 'autograd'",
                         "add `autograd: formula` or `autograd: function`");
    } else if (op.backward.given() && !op.expr.given()) {
      diagnostics_.error("E0164", op.backward.at, "'backward' has no meaning without 'expr'",
                         "without 'expr' both kernels are yours to write");
    } else if (autograd && op.expr.given() && !op.backward.given()) {
      diagnostics_.error("E0164", op.autograd.at, "'autograd' with 'expr' needs 'backward'",
                         "such as `backward: grad * self`");
    }
    const auto forward = expression(&node, "expr");
    const auto gradients = expressions(&node, "backward");
    if (!schema) return;
    const auto count = [&](auto&& test) { return std::ranges::count_if(schema->arguments, test); };
    const auto tensors = count([](const SchemaArgument& a) { return a.type == "Tensor"; });
    if (!op.expr.given()) {
      if (autograd) custom_autograd(op, *schema);
      return;
    }
    std::set<std::string> known;
    for (const auto& argument : schema->arguments) known.insert(argument.name);
    const auto served = count([](const SchemaArgument& a) {
      constexpr std::string_view kServed[] = {"Tensor",  "Scalar", "float", "int",  "bool",
                                              "Scalar?", "float?", "int?",  "bool?"};
      return std::ranges::find(kServed, a.type) != std::end(kServed);
    });
    const bool one_tensor = schema->returns.size() == 1 && schema->returns[0] == "Tensor";
    if (!one_tensor || served != std::ssize(schema->arguments) || tensors == 0) {
      diagnostics_.error("E0165", op.schema.at, "'expr' can't serve this schema",
                         "it wants Tensor and number arguments, at least one Tensor, and one Tensor back");
      return;
    }
    if (std::ssize(gradients) > tensors) {
      diagnostics_.error("E0165", op.schema.at,
                         fmt::format("'backward' has {} expressions, but the schema has {} Tensor{}", gradients.size(),
                                     tensors, tensors == 1 ? "" : "s"),
                         "one for each Tensor, in order, separated by ';'; one may be empty");
      return;
    }
    names(forward, known, node.find("expr"));
    known.insert("grad");
    for (const auto& gradient : gradients) names(gradient, known, node.find("backward"));
  }

  /// Expressions separated by ';', of which all but the first may be empty. Offsets are those in the whole text.
  std::vector<std::optional<Expr>> expressions(const Node* map, std::string_view key) {
    std::vector<std::optional<Expr>> out;
    const Node* node = find(map, key);
    if (node == nullptr) return out;
    const std::string_view text = node->text;
    for (std::size_t start = 0; start <= text.size();) {
      const auto end = std::min(text.find(';', start), text.size());
      const std::string_view piece = text.substr(start, end - start);
      out.emplace_back();
      if (out.size() == 1 || piece.find_first_not_of(' ') != std::string_view::npos) {
        Expr expr = parse_expr(piece);
        for (ExprName& name : expr.names) name.offset += start;
        if (expr.error) {
          diagnostics_.error(expr.error->code, place_inside(*node, expr.error->offset + start, spec_.text),
                             fmt::format("'{}': {}", key, expr.error->message), expr.error->hint);
        } else {
          out.back() = std::move(expr);
        }
      }
      start = end + 1;
    }
    return out;
  }

  /// A backward that is the owner's: a C++ function, which autograd calls with tensors it has saved.
  void custom_autograd(const CustomOpSpec& op, const OpSchema& schema) {
    const auto fail = [&](std::string message, std::string hint) {
      diagnostics_.error("E0227", op.autograd.at, "'autograd' can't serve this operator: " + message, std::move(hint));
    };
    if (*op.autograd == CustomAutograd::Function) {
      fail("without 'expr', 'function' has nothing to call",
           "`formula`: its backward is yours to write, beside the kernel");
      return;
    }
    for (const SchemaArgument& argument : schema.arguments) {
      if (argument.type.find('!') != std::string::npos) {
        fail(fmt::format("it writes '{}'", argument.name), "return a new tensor instead");
      } else if (argument.type.starts_with("Tensor") && argument.type.find('[') != std::string::npos) {
        fail(fmt::format("gradients do not reach the list '{}'", argument.name), "take single tensors");
      }
    }
    const bool tensors = std::ranges::all_of(schema.returns, [](const std::string& type) { return type == "Tensor"; });
    if (schema.returns.empty() || !tensors) fail("it returns something else than tensors", "return Tensor");
  }

  void names(const std::optional<Expr>& expr, const std::set<std::string>& known, const Node* node) {
    if (!expr) return;
    for (const auto& [name, offset] : expr->names) {
      if (known.contains(name)) continue;
      diagnostics_.error("E0166", place_inside(*node, offset, spec_.text),
                         fmt::format("'{}' is no argument of the operator", name),
                         fmt::format("its arguments: {}", fmt::join(known, ", ")));
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
