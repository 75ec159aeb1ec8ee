#include "base/suggest.h"
#include "base/text.h"
#include "releases/releases.h"
#include "resolve/validate.h"
#include "spec/minimal_ops.h"
#include "strategy/fit.h"

#include <fmt/format.h>

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
    const auto same = [&](const SpecValue<std::string>& dtype) { return *dtype == *skip.dtype; };
    if (skip.dtype.given() && tested.given() && std::ranges::none_of(*tested, same)) {
      diagnostics.warning("E0238", skip.dtype.at, fmt::format("'{}' is not tested with {}", known.name, *skip.dtype),
                          "leave the entry out");
    }
  }
}

void validate_op(const Spec& spec, const ResolvedOp& resolved, const Catalog& catalog, Diagnostics& diagnostics) {
  const auto& [entry, op, selected] = resolved;
  const Strategy& strategy = strategy_of(entry);
  const bool minimal = is_minimal_op(op.name, spec.components);
  const Strategy* choice = minimal ? replaces_minimal(op) : nullptr;
  if (minimal && choice != &strategy) {
    diagnostics.error("E0209", entry.name.at,
                      fmt::format("'{}' is part of the minimal set, which every backend registers", op.name),
                      choice ? fmt::format("leave it out, or write `{}`", choice->word)
                             : "leave it out; its kernel is in csrc/aten/native");
    return;
  }
  const StrategyFit fit = fit_of(strategy, op);
  if (!fit.fits && !(strategy.needs_no_fit != nullptr && strategy.needs_no_fit(entry))) {
    std::string others;
    for (const auto& other : fitting_strategies(op)) {
      const bool here = !other.strategy->compiles || (**spec.device.api).compiles;
      if (!other.fits || !here || other.strategy->runs == Strategy::Runs::Nothing) continue;
      others += (others.empty() ? "" : ", ") + std::string(other.strategy->word);
      if (const auto needs = other.strategy->component; !needs.empty() && !spec.components.has(needs))
        others += fmt::format(" (after `openreg-gen add component {}`)", needs);
    }
    diagnostics.error(std::string(strategy.code), entry.strategy.given() ? entry.strategy.at : entry.name.at,
                      fmt::format("'{}' can't be '{}': {}", op.name, strategy.word, fit.reason),
                      "what fits: " + others + (strategy.way_out == nullptr ? "" : strategy.way_out(spec, op)));
  } else if (fit.needs_override && !*entry.override_composite) {
    diagnostics.error("E0203", entry.name.at, fmt::format("'{}' is composite: {}", op.name, fit.reason),
                      "leave it out, or add `override: true`");
  }
  if (!selected && entry.override_composite.given() && *entry.override_composite && !fit.needs_override) {
    diagnostics.warning("E0210", entry.override_composite.at,
                        fmt::format("'{}' is not composite: there is nothing to override", op.name),
                        "leave 'override' out");
  }
  validate_tests(resolved, catalog, diagnostics);
  if (fit.fits && strategy.check != nullptr) strategy.check(spec, entry, op, diagnostics);
}

}  // namespace

const Op* find_op(const SpecValue<std::string>& name, const Catalog& catalog, const char* unknown, const char* overload,
                  Diagnostics& diagnostics) {
  if (const Op* op = catalog.find(*name)) return op;
  const std::string base = name->substr(0, name->find('.'));
  const auto overloads = catalog.overloads(base);
  if (!overloads.empty()) {
    const auto names = mapped(overloads, [](const Op* op) -> std::string_view { return op->name; });
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
                      fmt::format("write `{}: \"{}\"` to leave the operator out here", later ? "since" : "until",
                                  later ? other->since : other->until));
    return nullptr;
  }
  const auto names = mapped(catalog.all(), [](const Op& op) -> std::string_view { return op.name; });
  const auto hint = did_you_mean(*name, names);
  diagnostics.error(unknown, name.at, fmt::format("unknown operator '{}'", *name),
                    hint.empty() ? "`openreg-gen ops PATTERN` lists what PyTorch has" : hint);
  return nullptr;
}

/// Commands take an operator's name without a namespace, so a name means one operator.
void validate_custom_ops(const Spec& spec, const Catalog& catalog, Diagnostics& diagnostics) {
  for (const CustomOpSpec& op : spec.custom_ops) {
    const std::string& base = op.parsed.base;
    if (base.empty() || catalog.overloads(base).empty()) continue;
    diagnostics.error("E0167", op.schema.at, fmt::format("'{}' is the name of an operator of PyTorch", base),
                      fmt::format("call yours '{}_{}', say", *spec.backend.name, base));
  }
}

void validate_ops(const ResolvedSpec& resolved, Diagnostics& diagnostics) {
  for (const OpSpec* entry : resolved.unknown) find_op(entry->name, resolved.catalog, "E0201", "E0202", diagnostics);
  for (const ResolvedOp& op : resolved.ops) validate_op(resolved.spec, op, resolved.catalog, diagnostics);
  validate_custom_ops(resolved.spec, resolved.catalog, diagnostics);
}

}  // namespace openreg_gen
