#include "releases/releases.h"
#include "catalog/served_forms.h"
#include "catalog/strategies.h"
#include "catalog/stubs.h"
#include "diag/suggest.h"
#include "spec/document.h"
#include "spec/expr.h"
#include "spec/keys.h"
#include "spec/minimal_ops.h"
#include "resolve/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace openreg_gen {
namespace {

std::string list_overloads(const std::vector<const Op*>& overloads) {
  std::string text = "its overloads: ";
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < overloads.size() && i < kShown; ++i) text += (i > 0 ? ", " : "") + overloads[i]->name;
  if (overloads.size() > kShown)
    text += fmt::format(" and {} more: openreg-gen ops '{}.*'", overloads.size() - kShown, overloads[0]->base);
  return text;
}

/// Scalars of the spec that hold `text` at `at`: enough of a node to place a column.
Node node_of(const Located<std::string>& value) {
  Node node;
  node.kind = Node::Kind::String;
  node.text = *value;
  node.at = value.at;
  return node;
}

/// Operators that one of the dtypes has not: the compiler would say so, far from the spec.
void validate_dtypes(const Spec& spec, const OpSpec& op, const Located<std::string>& text, const Expr& expr,
                     Diagnostics& diagnostics, const std::function<bool(const std::string&)>& is_element) {
  std::vector<std::string> dtypes;
  for (const auto& dtype : *op.dtypes) dtypes.push_back(*dtype);
  if (const auto error = dtype_error(expr, dtypes, is_element))
    diagnostics.error(error->code, place_inside(node_of(text), error->offset, spec.text), error->message, error->hint);
}

void validate_expr(const Spec& spec, const OpSpec& op, const Op& known, Diagnostics& diagnostics) {
  const Expr expr = parse_expr(*op.expr);
  if (expr.error) return;  // reported by the parser
  std::vector<std::string_view> names;
  for (const Argument& argument : known.arguments) {
    std::string_view type = argument.schema_type;
    if (type.ends_with('?') && !type.starts_with("Tensor")) type.remove_suffix(1);  // for value_or() and has_value()
    const bool number = type == "Scalar" || type == "float" || type == "int" || type == "bool" || type == "SymInt";
    if (!argument.is_out && (number || type.starts_with("Tensor"))) names.push_back(argument.name);
  }
  for (const auto& [name, offset] : expr.names) {
    if (std::ranges::find(names, name) != names.end()) continue;
    diagnostics.error("E0208", place_inside(node_of(op.expr), offset, spec.text),
                      fmt::format("'{}' is no argument of '{}'", name, known.name), did_you_mean(name, names));
  }
  validate_dtypes(spec, op, op.expr, expr, diagnostics, [&](const std::string& name) {
    const auto has_name = [&](const Argument& argument) { return argument.name == name; };
    const auto found = std::ranges::find_if(known.arguments, has_name);
    return found != known.arguments.end() &&
           (found->schema_type.starts_with("Tensor") || found->schema_type.starts_with("Scalar"));
  });
}

/// Skips that skip nothing: the operator has no such form, or is not tested with the dtype.
void validate_tests(const ResolvedOp& resolved, const Catalog& catalog, Diagnostics& diagnostics) {
  if (resolved.selected) return;  // one skip for many: not each operator has what is skipped
  const auto& [op, known, _] = resolved;
  const auto served = served_forms(known, catalog);
  const auto has = [&](SchemaKind kind) {
    return known.kind == kind ||
           std::ranges::any_of(served, [&](const std::string& name) { return catalog.find(name)->kind == kind; });
  };
  const auto& tested = op.tests.dtypes.given() ? op.tests.dtypes : op.dtypes;
  for (const TestSkip& skip : op.tests.skip) {
    const bool out = *skip.check == TestCheck::Out && !has(SchemaKind::Out);
    const bool inplace = *skip.check == TestCheck::Inplace && !has(SchemaKind::Inplace);
    if (out || inplace) {
      diagnostics.warning(
          "E0236", skip.check.at,
          fmt::format("'{}' has no {} form: there is nothing to skip", known.name, out ? "out=" : "in-place"),
          "leave the entry out");
    }
    const auto same = [&](const Located<std::string>& dtype) { return *dtype == *skip.dtype; };
    if (skip.dtype.given() && tested.given() && std::ranges::none_of(*tested, same)) {
      diagnostics.warning("E0238", skip.dtype.at, fmt::format("'{}' is not tested with {}", known.name, *skip.dtype),
                          "leave the entry out");
    }
  }
}

/// Each of a reduction's expressions sees names of its own.
void validate_reduction(const Spec& spec, const OpSpec& op, const Op& known, Diagnostics& diagnostics) {
  if (picks(known) && op.combine.given()) {
    diagnostics.error("E0229", op.combine.at,
                      fmt::format("'{}' gives a place, which 'combine' does not know", known.name),
                      "write `prefer`, such as `prefer: a > b || a != a`, and no `combine` and `init`");
  } else if (!picks(known) && op.prefer.given()) {
    diagnostics.error(
        "E0229", op.prefer.at, fmt::format("'{}' gives no place of an element", known.name),
        "write `combine` and `init`; `prefer` is for argmax.out, argmin.out, max.dim_max and min.dim_min");
  }
  const std::pair<const Located<std::string>*, std::vector<std::string_view>> expressions[] = {
      {&op.map, {"self"}},
      {&op.combine, {"a", "b"}},
      {&op.init, {"lowest", "highest"}},
      {&op.finish, {"acc", "count"}},
      {&op.prefer, {"a", "b"}}};
  for (const auto& [text, names] : expressions) {
    if (!text->given()) continue;
    const Expr expr = parse_expr(**text);
    if (expr.error) continue;  // reported by the parser
    for (const auto& [name, offset] : expr.names) {
      if (std::ranges::find(names, name) != names.end()) continue;
      diagnostics.error("E0224", place_inside(node_of(*text), offset, spec.text),
                        fmt::format("'{}' is not known in this expression", name),
                        fmt::format("it sees {}", fmt::join(names, " and ")));
    }
    validate_dtypes(spec, op, *text, expr, diagnostics, [](const std::string&) { return true; });
  }
}

void validate_op(const Spec& spec, const ResolvedOp& resolved, const Catalog& catalog, Diagnostics& diagnostics) {
  const auto& [op, known, selected] = resolved;
  const bool choice = is_minimal_op(known.name) && find_stub(known.name) != nullptr;  // its stub may be the owner's
  if (is_minimal_op(known.name) && !(choice && *op.strategy == Strategy::Stub)) {
    diagnostics.error("E0209", op.name.at,
                      fmt::format("'{}' is part of the minimal set, which every backend registers", known.name),
                      choice ? "leave it out, or write `stub`" : "leave it out; its kernel is in csrc/aten/native");
    return;
  }
  const auto words = find_key("ops.*.strategy")->values;
  const auto word = words[static_cast<std::size_t>(*op.strategy)];
  const auto fits = fitting_strategies(known);
  const StrategyFit* fit = find_fit(fits, word);
  const Location at = op.strategy.given() ? op.strategy.at : op.name.at;
  // What never runs needs no way through the CPU.
  const bool runs_anyway =
      *op.strategy == Strategy::CpuFallback && op.fallback.given() && *op.fallback == FallbackKind::None;
  if (fit != nullptr && !fit->fits && !runs_anyway) {
    const char* code = *op.strategy == Strategy::CpuFallback  ? "E0204"
                       : *op.strategy == Strategy::Structured ? "E0205"
                       : *op.strategy == Strategy::Stub       ? "E0206"
                       : *op.strategy == Strategy::InTree     ? "E0221"
                       : *op.strategy == Strategy::Reduction  ? "E0222"
                       : *op.strategy == Strategy::Matmul     ? "E0223"
                                                              : "E0207";
    std::string others;
    for (const auto& other : fits) {
      if (other.fits && other.strategy != "unsupported")
        others += (others.empty() ? "" : ", ") + std::string(other.strategy);
    }
    const bool view =
        *op.strategy == Strategy::CpuFallback && *spec.fallback.kind != FallbackKind::None && known.has_default;
    diagnostics.error(code, at, fmt::format("'{}' can't be '{}': {}", known.name, word, fit->reason),
                      "what fits: " + others + (view ? "; or leave it out" : ""));
  } else if (fit != nullptr && fit->needs_override && !*op.override_composite) {
    diagnostics.error("E0203", op.name.at, fmt::format("'{}' is composite: {}", known.name, fit->reason),
                      "leave it out, or add `override: true`");
  }
  if (!selected && op.override_composite.given() && *op.override_composite && fit != nullptr && !fit->needs_override) {
    diagnostics.warning("E0210", op.override_composite.at,
                        fmt::format("'{}' is not composite: there is nothing to override", known.name),
                        "leave 'override' out");
  }
  validate_tests(resolved, catalog, diagnostics);
  if (*op.strategy == Strategy::Reduction && fit != nullptr && fit->fits)
    validate_reduction(spec, op, known, diagnostics);
  if (*op.strategy == Strategy::Pointwise && fit != nullptr && fit->fits) validate_expr(spec, op, known, diagnostics);
}

}  // namespace

const Op* find_op(const Located<std::string>& name, const Catalog& catalog, const char* unknown, const char* overload,
                  Diagnostics& diagnostics) {
  if (const Op* op = catalog.find(*name)) return op;
  const std::string base = name->substr(0, name->find('.'));
  const auto overloads = catalog.overloads(base);
  if (!overloads.empty()) {
    std::vector<std::string_view> names;
    for (const Op* op : overloads) names.push_back(op->name);
    const auto near = base == *name ? std::string_view() : closest(*name, names);
    diagnostics.error(overload, name.at,
                      fmt::format("'{}' has no overload {}", base,
                                  base == *name ? "without a name" : "'" + name->substr(base.size() + 1) + "'"),
                      near.empty() ? list_overloads(overloads)
                                   : fmt::format("did you mean '{}'? {}", near, list_overloads(overloads)));
    return nullptr;
  }
  if (const OpRelease* other = find_op_release(*name)) {
    const bool later = !other->since.empty();
    diagnostics.error(unknown, name.at,
                      fmt::format("PyTorch {} has no operator '{}'{}", catalog.torch_version(), *name,
                                  later ? fmt::format(", which came with {}", other->since)
                                        : fmt::format(", which {} was the last to have", other->until)),
                      fmt::format("write `{}: \"{}\"`: the operator is then left out here", later ? "since" : "until",
                                  later ? other->since : other->until));
    return nullptr;
  }
  std::vector<std::string_view> names;
  for (const Op& op : catalog.all()) names.push_back(op.name);
  const auto hint = did_you_mean(*name, names);
  diagnostics.error(unknown, name.at, fmt::format("unknown operator '{}'", *name),
                    hint.empty() ? "`openreg-gen ops PATTERN` lists what PyTorch has" : hint);
  return nullptr;
}

void validate_ops(const Resolved& resolved, Diagnostics& diagnostics) {
  for (const OpSpec* entry : resolved.unknown) find_op(entry->name, resolved.catalog, "E0201", "E0202", diagnostics);
  for (const ResolvedOp& op : resolved.ops) validate_op(resolved.spec, op, resolved.catalog, diagnostics);
}

}  // namespace openreg_gen
