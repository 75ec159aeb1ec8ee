// `reduction`: the spec's expressions become a kernel that folds elements, or picks one of them.
#include "spec/print_expr.h"
#include "strategy/strategy.h"
#include "strategy/fit.h"
#include "strategy/item.h"

#include <fmt/ranges.h>

namespace openreg_gen {
namespace {

struct ReductionItem : OpItem {
  using OpItem::OpItem;
  std::string dims, map, combine, init, finish;
  std::string device_map, device_combine, device_init, device_finish;  // the same in the device's language
  std::optional<DtypeTexts> dtypes;
  void print(Fields out) const override {
    OpItem::print(out);
    PRINT_FIELDS(out, dims, map, combine, init, finish, device_map, device_combine, device_init, device_finish);
    dtypes->print(out);
  }
};

/// A reduction to a place: argmax has places alone, max.dim_max values and places.
struct PickItem : ReductionItem {
  using ReductionItem::ReductionItem;
  std::string prefer, device_prefer;
  void print(Fields out) const override {
    ReductionItem::print(out);
    const bool values = outs.size() == 2;
    PRINT_FIELDS(out, prefer, device_prefer);
    out("into_values", values ? "maybe_get_output(0)" : "at::Tensor()")(
        "into_places", values ? "maybe_get_output(1)" : "maybe_get_output(0)");
  }
};

/// Reductions whose shapes and dtypes PyTorch's meta() gives: `dim` (one, some or none for all), `keepdim`.
std::string not_reduction(const Op& op) {
  if (auto other = served_by_delegate(op); !other.empty()) return other;
  if (picks(op)) return {};
  if (!op.structured || op.schema_returns.size() != 1) return "PyTorch has no structured form of it with one result";
  constexpr std::string_view known[] = {"self", "dim", "keepdim", "dtype"};
  for (const Argument& a : op.arguments) {
    if (!a.is_out && !contains(known, a.name))
      return fmt::format("it takes '{}', but a reduction takes only `self`, `dim`, `keepdim` and `dtype`", a.name);
  }
  const bool folds = op.has_tag("reduction") || op.base == "any" || op.base == "all";
  return folds ? "" : "it reduces nothing";
}

void reduction_written(const OpSpec& entry, Diagnostics& diagnostics) {
  if (entry.prefer.given()) {
    for (const auto& [key, value] :
         {std::pair{"combine", &entry.combine}, {"init", &entry.init}, {"finish", &entry.finish}}) {
      if (value->given())
        diagnostics.error("E0229", value->at, fmt::format("'{}' has no meaning beside 'prefer'", key),
                          "`prefer` picks one of the elements; use it only with `map`");
    }
  } else if (!entry.combine.given() || !entry.init.given()) {
    diagnostics.error(
        "E0220", entry.name.at,
        fmt::format("'{}' is a reduction, but has no '{}'", *entry.name, entry.combine.given() ? "init" : "combine"),
        "such as `combine: a + b` and `init: 0`; for argmax and its like, `prefer: a > b || a != a`");
  }
}

/// Each of a reduction's expressions sees names of its own.
void check_reduction(const Spec& spec, const OpSpec& op, const Op& known, Diagnostics& diagnostics) {
  if (picks(known) && op.combine.given()) {
    diagnostics.error("E0229", op.combine.at,
                      fmt::format("'{}' returns an index, which 'combine' can't compute", known.name),
                      "write `prefer`, such as `prefer: a > b || a != a`, and no `combine` and `init`");
  } else if (!picks(known) && op.prefer.given()) {
    diagnostics.error(
        "E0229", op.prefer.at, fmt::format("'{}' doesn't return the index of an element", known.name),
        "write `combine` and `init`; `prefer` is for argmax.out, argmin.out, max.dim_max and min.dim_min");
  }
  const std::pair<const SpecValue<Expr>*, std::vector<std::string_view>> expressions[] = {
      {&op.map, {"self"}},
      {&op.combine, {"a", "b"}},
      {&op.init, {"lowest", "highest"}},
      {&op.finish, {"acc", "count"}},
      {&op.prefer, {"a", "b"}}};
  for (const auto& [expr, seen] : expressions) {
    if (!expr->given() || (*expr)->error) continue;  // reported by the parser
    each_name((*expr)->root, [&, &at = *expr, &names = seen](const ExprNode& use) {
      if (contains(names, use.text)) return;
      diagnostics.error("E0224", place_in(at, use.offset, spec),
                        fmt::format("unknown name '{}' in this expression", use.text),
                        fmt::format("it may use {}", fmt::join(names, " and ")));
    });
    check_dtypes(spec, op, *expr, diagnostics, [](const std::string&) { return true; });
  }
}

/// Whether the device's language has all functions of the entry, of each dtype.
bool on_device(const DeviceKernels& kernels, const OpSpec& entry, std::string_view file) {
  if (!kernels.has(file)) return false;
  const auto has = [&](const Expr& expr) {
    const KernelLanguage& language = *kernels.language;
    return KernelLanguage::first_of(language.lacks, expr).empty() &&
           KernelLanguage::first_of(language.lacks_in_float64, expr).empty();
  };
  return has(*entry.map) && has(*entry.combine) && has(*entry.init) && has(*entry.finish) && has(*entry.prefer);
}

template <typename Item>
std::unique_ptr<Item> reduced(const SpecView& shown, const OpSpec& entry, const Op& op) {
  auto out = std::make_unique<Item>(op);
  out->calls = shown.structured(op);
  out->dims = "{}";
  for (const Parameter& p : parameters(op)) {
    if (p.name != "dim") continue;
    if (p.type == "int64_t") out->dims = "{dim}";
    if (p.type == "std::optional<int64_t>") out->dims = "dim.has_value() ? at::IntArrayRef(*dim) : at::IntArrayRef()";
    if (p.type == "at::OptionalIntArrayRef") out->dims = "dim.value_or(at::IntArrayRef())";
    if (p.type == "at::IntArrayRef") out->dims = "dim";
  }
  out->map = cpp_text(*entry.map);
  out->combine = cpp_text(*entry.combine);
  out->init = cpp_text(*entry.init);
  out->finish = cpp_text(*entry.finish);
  out->dtypes.emplace(shown, entry, *out);
  if (!on_device(shown.kernels, entry, picks(op) ? "pick" : "reduction")) return out;
  out->device_map = shown.device_text(*entry.map);
  out->device_combine = shown.device_text(*entry.combine);
  out->device_init = shown.device_text(*entry.init);
  out->device_finish = shown.device_text(*entry.finish);
  return out;
}

std::unique_ptr<OpItem> reduction_item(const SpecView& shown, const OpSpec& entry, const Op& op) {
  if (!picks(op)) return reduced<ReductionItem>(shown, entry, op);
  auto out = reduced<PickItem>(shown, entry, op);
  out->list = "pick";
  out->prefer = cpp_text(*entry.prefer);
  if (!out->device_map.empty()) out->device_prefer = shown.device_text(*entry.prefer);
  return out;
}

void summarise_reduction(const SpecView&, StrategySummary& listed) {
  listed.out("reduces", !listed.of("reduction").empty() || !listed.of("pick").empty());
}

}  // namespace

bool picks(const Op& op) {
  constexpr std::string_view kNames[] = {"argmax.out", "argmin.out", "max.dim_max", "min.dim_min"};
  return contains(kNames, op.name);
}

Strategy reduction_strategy() {
  return {
      .word = "reduction",
      .about = "a kernel made from `map`, `combine` and `finish`, or from `prefer`.",
      .keys = "map combine init finish prefer dtypes fallback",
      .component = "loops",
      .written = reduction_written,
      .unfit = not_reduction,
      .code = "E0222",
      .check = check_reduction,
      .starts_on_host = loops_on_host,
      .lists = "reduction pick",
      .item = reduction_item,
      .summarise = summarise_reduction,
  };
}

}  // namespace openreg_gen
