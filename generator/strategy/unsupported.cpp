// `unsupported`: a call raises, and says why.
#include "strategy/strategy.h"
#include "strategy/item.h"
#include "texts/escape.h"

#include <fmt/format.h>

namespace openreg_gen {
namespace {

struct UnsupportedItem : OpItem {
  using OpItem::OpItem;
  struct Reason {
    std::string text;
    void print(Fields out) const { out("cpp", cpp_literal(text))("py", python_literal(text)); }
  } reason;
  std::string py_overload;
  void print(Fields out) const override {
    OpItem::print(out);
    PRINT_FIELDS(out, reason, py_overload);
  }
};

void unsupported_written(const OpSpec& entry, Diagnostics& diagnostics) {
  if (!entry.reason.given())
    diagnostics.error("E0154", entry.name.at, fmt::format("'{}' is unsupported, but has no 'reason'", *entry.name),
                      "give the reason that the error should show: `reason: ...`");
}

std::unique_ptr<OpItem> unsupported_item(const SpecView&, const OpSpec& entry, const Op& op) {
  auto out = std::make_unique<UnsupportedItem>(op);
  out->reason.text = *entry.reason;
  out->py_overload = op.overload.empty() ? "default" : op.overload;
  return out;
}

void summarise_unsupported(const SpecView&, StrategySummary& listed) {
  std::vector<const OpItem*> refused;  // on each release
  for (const auto& op : listed.of("unsupported"))
    if (op->releases->when.empty()) refused.push_back(op.get());
  listed.out("refused", refused);
}

}  // namespace

Strategy unsupported_strategy() {
  return {
      .word = "unsupported",
      .about = "a clear error.",
      .keys = "reason",
      .written = unsupported_written,
      .runs = Strategy::Runs::Nothing,
      .lists = "unsupported",
      .item = unsupported_item,
      .summarise = summarise_unsupported,
  };
}

}  // namespace openreg_gen
