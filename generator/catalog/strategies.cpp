#include "catalog/strategies.h"

#include "catalog/in_tree.h"
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
  // Those of PyTorch's iterators that walk over elements first, and then do more.
  const auto has = [&](std::string_view name) {
    return std::ranges::find(op.arguments, name, &Argument::name) != op.arguments.end();
  };
  if (has("reduction"))
    return "it sums up its elements, or not, as `reduction` says; an expression knows one element alone";
  if (has("dim")) return "it works along `dim`; an expression knows one element alone";
  if (std::ranges::any_of(op.arguments, [](const Argument& a) { return a.schema_type == "Tensor?"; }))
    return "one of its tensors is optional, and an expression has it or has it not";
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

std::string not_in_tree(const Op& op) {
  if (!op.structured_delegate.empty()) {
    return fmt::format("'{}' serves this form too: register that one", op.structured_delegate);
  }
  const auto cpu = op.kernels.find("CPU");
  const auto cuda = op.kernels.find("CUDA");
  if (cpu == op.kernels.end() || cuda == op.kernels.end()) {
    return op.op_class == OpClass::Composite ? "PyTorch composes it from other operators already"
                                             : "PyTorch has no kernel of it that two kinds of devices share";
  }
  if (cpu->second != cuda->second) {
    return fmt::format("PyTorch's kernels of it differ: '{}' for the CPU, '{}' for CUDA", cpu->second, cuda->second);
  }
  if (op.op_class == OpClass::View) return "it is a view operator";
  const auto draws = [](const Argument& a) { return a.schema_type == "Generator?"; };
  if (std::ranges::any_of(op.arguments, draws))
    return "it draws random numbers, and the device has a generator of its own";
  return in_tree_stubs(op.name) ? "" : "what its kernel calls on a device is not known";
}

/// Reductions whose shapes and dtypes PyTorch's meta() tells: `dim` (one, some or none for all), `keepdim`.
std::string not_reduction(const Op& op) {
  if (!op.structured_delegate.empty()) {
    return fmt::format("'{}' serves this form too: register that one", op.structured_delegate);
  }
  if (picks(op)) return {};
  if (!op.structured || op.schema_returns.size() != 1) return "PyTorch has no structured form of it with one result";
  constexpr std::string_view known[] = {"self", "dim", "keepdim", "dtype"};
  for (const Argument& a : op.arguments) {
    if (!a.is_out && std::ranges::find(known, a.name) == std::end(known)) {
      return fmt::format("it takes '{}', and a reduction has `self`, `dim`, `keepdim` and `dtype` alone", a.name);
    }
  }
  const bool folds = op.has_tag("reduction") || op.base == "any" || op.base == "all";
  return folds ? "" : "it reduces nothing";
}

std::string not_matmul(const Op& op) {
  constexpr std::string_view family[] = {"addmm.out", "addmv.out", "baddbmm.out", "bmm.out", "dot", "mm.out", "vdot"};
  if (std::ranges::find(family, op.name) != std::end(family)) return {};
  if (std::ranges::find(family, op.structured_delegate) != std::end(family)) {
    return fmt::format("'{}' serves this form too: register that one", op.structured_delegate);
  }
  constexpr std::string_view composed[] = {"chain_matmul",     "dot",       "inner",  "linalg_matmul",
                                           "linalg_multi_dot", "linear",    "matmul", "mv",
                                           "linalg_vecdot",    "tensordot", "vdot"};
  if (std::ranges::find(composed, op.base) != std::end(composed))
    return "PyTorch composes it of products that can be: mm.out, bmm.out, addmm.out, baddbmm.out, addmv.out and dot";
  return "it is no product of matrices; those are mm.out, bmm.out, addmm.out, baddbmm.out, addmv.out, dot and vdot";
}

std::string no_cpu_fallback(const Op& op) {
  if (op.is_view && !op.kernels.contains("CPU")) return "it is a view that PyTorch has no CPU kernel for";
  if (op.is_view) return "";
  switch (op.op_class) {
    case OpClass::Factory:
      return "it makes tensors on a device; the CPU would make them on the CPU";
    case OpClass::Random:
      return "the CPU would draw from its own generator, not the device's";
    default:
      break;
  }
  const bool stream = std::ranges::any_of(op.arguments, [](const Argument& a) { return a.schema_type == "Stream"; });
  if ((!op.has_default || op.default_throws()) && !op.kernels.contains("CPU"))
    return "PyTorch has no CPU kernel for it";
  return stream ? "a stream has no meaning on the CPU" : "";
}

/// What registering a kernel would do to an op that works already; empty if it does no harm.
std::string override_warning(const Op& op) {
  if (op.composite_implicit) {
    return "PyTorch composes it from other operators, with their gradients; a kernel of its own loses those";
  }
  if (op.op_class == OpClass::Composite && !op.default_throws())
    return "PyTorch composes it from other operators already";
  return {};
}

}  // namespace

bool picks(const Op& op) {
  constexpr std::string_view names[] = {"argmax.out", "argmin.out", "max.dim_max", "min.dim_min"};
  return std::ranges::find(names, op.name) != std::end(names);
}

std::vector<StrategyFit> fitting_strategies(const Op& op) {
  const std::pair<std::string_view, std::string> rules[] = {
      {"structured", not_structured(op)},
      {"pointwise", not_pointwise(op)},
      {"stub", not_stub(op)},
      {"native", ""},
      {"cpu_fallback", no_cpu_fallback(op)},
      {"unsupported", ""},
      {"in_tree", not_in_tree(op)},
      {"reduction", not_reduction(op)},
      {"matmul", not_matmul(op)},
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
