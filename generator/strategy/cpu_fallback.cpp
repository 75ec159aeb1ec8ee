// `cpu_fallback`: the CPU's kernel, whatever the backend does with operators that the spec doesn't name.
#include "strategy/strategy.h"
#include "strategy/fit.h"
#include "strategy/item.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

struct CpuFallbackItem : OpItem {
  using OpItem::OpItem;
  std::string detour;
  void print(Fields out) const override {
    OpItem::print(out);
    out("detour", detour);
  }
};

std::string no_cpu_fallback(const Op& op) {
  if (op.is_view && !op.kernels.contains("CPU")) return "it is a view that PyTorch has no CPU kernel for";
  if (op.is_view) return "";
  switch (op.op_class) {
    case OpClass::Factory:
      return "it creates tensors on a device; the CPU would create them on the CPU";
    case OpClass::Random:
      return "the CPU would draw from its own generator, not from that of the device";
    default:
      break;
  }
  const bool stream = std::ranges::any_of(op.arguments, [](const Argument& a) { return a.schema_type == "Stream"; });
  if ((!op.has_default || op.default_throws()) && !op.kernels.contains("CPU"))
    return "PyTorch has no CPU kernel for it";
  return stream ? "a stream has no meaning on the CPU" : "";
}

void cpu_fallback_written(const OpSpec& entry, Diagnostics& diagnostics) {
  if (entry.strategy.given() && entry.fallback.given() && *entry.fallback == FallbackKind::None)
    diagnostics.error("E0230", entry.fallback.at,
                      fmt::format("'{}' both runs on the CPU and must not fall back", *entry.name),
                      "leave 'strategy' out to make calling the operator an error");
}

std::unique_ptr<OpItem> cpu_fallback_item(const SpecView&, const OpSpec& entry, const Op& op) {
  return fallback_item(op, &entry);
}

}  // namespace

std::unique_ptr<OpItem> fallback_item(const Op& op, const OpSpec* entry) {
  auto out = std::make_unique<CpuFallbackItem>(op);
  out->detour = entry == nullptr ? "detour" : detour_function(*entry);
  return out;
}

Strategy cpu_fallback_strategy() {
  return {
      .word = "cpu_fallback",
      .about = "the CPU's kernel.",
      .keys = "fallback",
      .implied_by = "fallback",
      .written = cpu_fallback_written,
      .runs = Strategy::Runs::Fallback,
      .unfit = no_cpu_fallback,
      .code = "E0204",
      // An operator that never runs doesn't need a CPU kernel.
      .needs_no_fit =
          [](const OpSpec& entry) { return entry.fallback.given() && *entry.fallback == FallbackKind::None; },
      .way_out = [](const Spec& spec, const Op& op) -> std::string {
        return *spec.fallback.kind != FallbackKind::None && op.has_default ? "; or leave it out" : "";
      },
      .lists = "cpu_fallback",
      .item = cpu_fallback_item,
  };
}

}  // namespace openreg_gen
