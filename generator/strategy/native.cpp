// `native`: the owner writes a kernel with the operator's exact signature.
#include "spec/kinds.h"
#include "strategy/strategy.h"
#include "strategy/device_kernel.h"
#include "strategy/fit.h"
#include "strategy/item.h"
#include "strategy/starter.h"

namespace openreg_gen {
namespace {

struct NativeItem : OpItem {
  using OpItem::OpItem;
  std::string attention;  // what it starts as
  bool shipped = false;   // the tree comes with a kernel for it in the device's language
  DeviceKernel kernel;    // else one that is the owner's
  void print(Fields out) const override {
    OpItem::print(out);
    PRINT_FIELDS(out, attention, shipped);
    kernel.print(out);
  }
};

std::unique_ptr<OpItem> native_item(const SpecView& shown, const OpSpec&, const Op& op) {
  auto out = std::make_unique<NativeItem>(op);
  out->attention = attention_start(op.name);
  out->shipped = shown.kernels.serves(op.name);
  out->kernel = device_kernel(shown.kernels, op, *out);
  return out;
}

bool native_on_host(const DeviceKind&, const DeviceKernels& kernels, const Op& op) {
  return attention_start(op.name).empty() && !kernels.serves(op.name);
}

std::string why_native(const Op& op) {
  const std::string no = unfit(*find_strategy("cpu_fallback"), op);
  return no.empty() ? "it has no structured form and no DispatchStub; the kernel starts as a call to the CPU's kernel"
                    : "the only way: " + no;
}

}  // namespace

Strategy native_strategy() {
  return {
      .word = "native",
      .about = "a kernel with the operator's exact signature.",
      .preference = 5,
      .why_of = why_native,
      .starts_on_host = native_on_host,
      .lists = "native",
      .item = native_item,
  };
}

}  // namespace openreg_gen
