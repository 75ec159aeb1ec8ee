// `stub`: PyTorch's own kernel, with a function for its DispatchStub that the owner writes.
#include "catalog/stubs.h"
#include "base/text.h"
#include "spec/kinds.h"
#include "strategy/strategy.h"
#include "strategy/fit.h"
#include "strategy/item.h"
#include "strategy/starter.h"

#include <fmt/format.h>

#include <stdexcept>

namespace openreg_gen {
namespace {

struct StubType {
  bool base;    // TensorIteratorBase, not TensorIterator
  int scalars;  // const at::Scalar& that follow
  bool flag;    // and a bool
  std::string_view names;
};
constexpr StubType kStubTypes[] = {
    {false, 0, false, "binary_fn hardswish_fn"},
    {false, 2, false, "hardtanh_backward_fn"},
    {true, 0, false,
     "hardsigmoid_backward_fn hardsigmoid_fn is_infinity_op_fn lerp_fn_tensor pow_tensor_tensor_fn "
     "structured_activation_backward_fn structured_activation_fn structured_binary_fn unary_fn"},
    {true, 1, false,
     "binary_fn_alpha leaky_relu_backward_fn leaky_relu_fn lerp_fn_scalar shrink_backward_fn shrink_fn softshrink_fn "
     "structured_pointwise_fn unary_fn_with_scalar"},
    {true, 2, false, "softplus_backward_fn softplus_fn threshold_fn"},
    {true, 3, false, "elu_fn"},
    {true, 3, true, "elu_backward_fn"},
};

struct StubItem : OpItem {
  using OpItem::OpItem;
  std::string kernel, stub_header;
  bool choice = false;  // chooses an attention kernel instead of being one: the rest stays unset
  bool promotes = false;
  StubSignature stub_signature;
  std::string starter, lambda_params, dispatch, takes;
  void print(Fields out) const override {
    OpItem::print(out);
    PRINT_FIELDS(out, kernel, stub, stub_header, choice)("strategy", "stub")("direct", std::vector<std::string>());
    if (choice) return;
    PRINT_FIELDS(out, starter, lambda_params, dispatch, takes)("stub_params", stub_signature.params)(
        "stub_args", stub_signature.args)("promotes", promotes ? "true" : "false");
  }
  std::string signature() const override {
    return choice ? OpItem::signature() : "void " + id + "_kernel(" + stub_signature.params + ")";
  }
};

std::string not_stub(const Op& op) {
  if (find_stub(op.name) != nullptr) return {};
  for (const auto& variant : op.variants) {
    if (find_stub(variant) == nullptr) continue;
    const bool serves = variant == op.structured_delegate;
    return fmt::format("'{}' {}", variant,
                       serves ? "serves this form too: register that one" : "has a stub, this form doesn't");
  }
  return "PyTorch's own kernel for it doesn't call a DispatchStub that a backend can implement";
}

std::unique_ptr<OpItem> stub_item(const SpecView& shown, const OpSpec& entry, const Op& op) {
  auto out = std::make_unique<StubItem>(op);
  const Stub& info = *find_stub(op.name);
  out->kernel = shown.kernel(op, *out);
  out->stub = info.name;
  out->stub_header = info.header();
  if (is_attention_choice(op.name)) {
    out->choice = true;
    out->kernel = "native::" + op.name;
    return out;
  }
  const auto dtypes = dtype_names(entry);
  const Starter start = starter(op.name);
  out->stub_signature = stub_signature(info.fn_type);
  out->promotes = info.promotes();
  out->starter = start.expression;
  out->lambda_params = pointwise_texts(parameters(op)).lambda_params;
  out->dispatch = dtypes.empty() ? start.dispatch : dispatch_types(dtypes);
  if (shown.falls_back(entry)) out->takes = enumerators(dtypes.empty() ? start.dtypes : dtypes);
  return out;
}

bool stub_on_host(const DeviceKind& device, const DeviceKernels&, const Op& op) {
  return !is_attention_choice(op.name) && (starter(op.name).expression.empty() || !device.runs_loops);
}

}  // namespace

StubSignature stub_signature(std::string_view fn_type) {
  for (const StubType& type : kStubTypes) {
    if (!has_word(type.names, fn_type)) continue;
    StubSignature out{type.base ? "at::TensorIteratorBase& iter" : "at::TensorIterator& iter", "iter"};
    for (int i = 0; i < type.scalars; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      out.params += ", const at::Scalar& " + name;
      out.args += ", " + name;
    }
    if (type.flag) {
      out.params += ", bool flag";
      out.args += ", flag";
    }
    return out;
  }
  throw std::out_of_range("no parameters known for " + std::string(fn_type));
}

Strategy stub_strategy() {
  return {
      .word = "stub",
      .about = "PyTorch's kernel, with the backend's own DispatchStub.",
      .keys = "dtypes fallback",
      .component = "loops",
      .unfit = not_stub,
      .code = "E0206",
      .replaces_minimal = [](const Op& op) { return find_stub(op.name) != nullptr; },
      .preference = 3,
      .why = "PyTorch's own kernel serves it; you write the function that its DispatchStub runs on the device",
      .starts_on_host = stub_on_host,
      .lists = "stub",
      .item = stub_item,
  };
}

}  // namespace openreg_gen
