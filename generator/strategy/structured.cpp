// `structured`: the owner writes the kernel; shapes, dtypes and the other forms come from PyTorch.
#include "spec/kinds.h"
#include "strategy/strategy.h"
#include "strategy/device_kernel.h"
#include "strategy/fit.h"
#include "strategy/item.h"
#include "strategy/starter.h"

namespace openreg_gen {
namespace {

struct StructuredItem : OpItem {
  using OpItem::OpItem;
  Starter start;
  std::string lambda_params;
  bool shipped = false;  // the tree comes with a kernel for it in the device's language
  DeviceKernel kernel;   // else one that is the owner's
  void print(Fields out) const override {
    OpItem::print(out);
    PRINT_FIELDS(out, lambda_params, shipped)("starter", start.expression)("dispatch", start.dispatch);
    kernel.print(out);
  }
};

std::string not_structured(const Op& op) {
  if (op.structured) return {};
  const auto other = served_by_delegate(op);
  return other.empty() ? "PyTorch has no structured form of it" : other;
}

std::unique_ptr<OpItem> structured_item(const SpecView& shown, const OpSpec&, const Op& op) {
  auto out = std::make_unique<StructuredItem>(op);
  out->calls = shown.structured(op);
  out->start = starter(op.name);
  out->lambda_params = pointwise_texts(parameters(op)).lambda_params;
  out->shipped = shown.kernels.serves(op.name);
  out->kernel = device_kernel(shown.kernels, op, *out);
  return out;
}

bool structured_on_host(const DeviceKind& device, const DeviceKernels& kernels, const Op& op) {
  const Starter start = starter(op.name);
  if (kernels) return start.kernel_value.empty() && !kernels.serves(op.name);
  return start.expression.empty() || !device.runs_loops;
}

}  // namespace

Strategy structured_strategy() {
  return {
      .word = "structured",
      .about = "shapes, dtypes and the functional form come from PyTorch.",
      .component = "loops",
      .unfit = not_structured,
      .code = "E0205",
      .preference = 4,
      .why = "shapes, dtypes, the functional and the in-place form come from PyTorch; you write impl()",
      .starts_on_host = structured_on_host,
      .lists = "structured",
      .item = structured_item,
  };
}

}  // namespace openreg_gen
