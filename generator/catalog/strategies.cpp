#include "catalog/strategies.h"

#include "catalog/stubs.h"

#include <fmt/format.h>

#include <algorithm>

namespace openreg_gen {
namespace {

/// Why an expression over elements cannot be the op's kernel; empty if it can.
std::string not_pointwise(const Op& op) {
  if (!op.structured_delegate.empty()) {
    return fmt::format("'{}' serves this form too: register that one", op.structured_delegate);
  }
  const bool elementwise = op.has_tag("pointwise") || op.structured_inherits == "TensorIteratorBase";
  if (!elementwise || op.has_tag("reduction")) return "it does not work element by element";
  if (op.base.starts_with("_foreach") || op.base.starts_with("_fused")) return "it works on lists of tensors";
  if (op.op_class == OpClass::View || op.op_class == OpClass::Random)
    return fmt::format("it is a {} operator", to_string(op.op_class));
  if (op.schema_returns.size() != 1 || !op.schema_returns[0].starts_with("Tensor")) {
    return "it does not return one tensor";
  }
  const auto is_input = [](const Argument& a) { return !a.is_out && a.schema_type.starts_with("Tensor"); };
  if (std::ranges::none_of(op.arguments, is_input)) return "it has no tensor to read";
  return {};
}

std::string not_structured(const Op& op) {
  if (op.structured) return {};
  if (!op.structured_delegate.empty()) {
    return fmt::format("'{}' serves this form too: register that one", op.structured_delegate);
  }
  return "PyTorch has no structured form of it";
}

std::string not_stub(const Op& op) {
  if (find_stub(op.name) != nullptr) return {};
  for (const auto& variant : op.variants) {
    if (find_stub(variant) == nullptr) continue;
    const bool serves = variant == op.structured_delegate;
    return fmt::format("'{}' {}", variant,
                       serves ? "serves this form too: register that one" : "has a stub, this form has none");
  }
  return "PyTorch's own kernel of it ends in no DispatchStub that a backend can serve";
}

std::string no_cpu_fallback(const Op& op) {
  if (op.is_view) return "a view must alias its input; by way of the CPU it would be a copy";
  switch (op.op_class) {
    case OpClass::Factory:
      return "it makes tensors on a device; the CPU would make them on the CPU";
    case OpClass::Random:
      return "the CPU would draw from its own generator, not the device's";
    default:
      break;
  }
  const bool stream = std::ranges::any_of(op.arguments, [](const Argument& a) { return a.schema_type == "Stream"; });
  if (!op.has_default && !op.kernels.contains("CPU")) return "PyTorch has no CPU kernel for it";
  return stream ? "a stream has no meaning on the CPU" : "";
}

/// What registering a kernel would do to an op that works already; empty if it does no harm.
std::string override_warning(const Op& op) {
  if (op.composite_implicit) {
    return "PyTorch composes it from other operators, with their gradients; a kernel of its own loses those";
  }
  if (op.op_class == OpClass::Composite) return "PyTorch composes it from other operators already";
  return {};
}

}  // namespace

std::vector<StrategyFit> fitting_strategies(const Op& op) {
  const std::pair<std::string_view, std::string> rules[] = {
      {"structured", not_structured(op)},
      {"pointwise", not_pointwise(op)},
      {"stub", not_stub(op)},
      {"native", ""},
      {"cpu_fallback", no_cpu_fallback(op)},
      {"unsupported", ""},
  };
  const auto warning = override_warning(op);
  std::vector<StrategyFit> fits;
  for (const auto& [strategy, reason] : rules) {
    const bool fit = reason.empty();
    fits.push_back({strategy, fit, fit && !warning.empty(), fit ? warning : reason});
  }
  return fits;
}

const StrategyFit* find_fit(const std::vector<StrategyFit>& fits, std::string_view strategy) {
  const auto at = std::ranges::find(fits, strategy, &StrategyFit::strategy);
  return at == fits.end() ? nullptr : &*at;
}

}  // namespace openreg_gen
