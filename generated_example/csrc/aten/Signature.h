// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <torch/library.h>

#include "host/FallbackReport.h"
#include "runtime/Guard.h"

// Note [Signatures]
// PyTorch compares a kernel's signature with the operator's schema when the library is loaded, and the process dies
// there if they differ, as they do once PyTorch changes an operator. OPENREG_IMPL compares them when the kernel is
// compiled, so that a drifted kernel is one error that names its operator. A schema with SymInt is matched by the same
// signature with int64_t as well: both can be registered.

namespace openreg {

template <class Op, class Fn>
inline constexpr bool matches_schema = std::is_same_v<Fn, typename Op::schema> ||
    std::is_same_v<Fn, typename c10::fn_remove_symint<typename Op::schema>::type>;

/// The device of the first of an operator's tensors that is on one of the backend's: 0-dim CPU tensors may stand before it.
template <class... Tensors>
std::optional<at::Device> first_device_of(const Tensors&... tensors) {
  std::optional<at::Device> found;
  const auto look = [&found](const at::Tensor& tensor) {
    if (!found.has_value() && tensor.defined() && tensor.is_privateuseone()) {
      found = tensor.device();
    }
  };
  (look(tensors), ...);
  return found;
}

/// Makes first_device_of(tensors) current for a scope, if there is one. A c10::DeviceGuard would look up the type first.
class OperandsGuard : public OptionalOpenRegGuard {
 public:
  template <class... Tensors>
  explicit OperandsGuard(const Tensors&... tensors) : OptionalOpenRegGuard(first_device_of(tensors...)) {}
};

/// `fn` inside an OperatorScope of its own: Note [The operator that runs] in host/Operator.h.
template <const RegisteredKernel& kernel, auto* fn, class Fn = std::remove_pointer_t<decltype(fn)>>
struct NamedKernel;
template <const RegisteredKernel& kernel, auto* fn, class R, class... Params>
struct NamedKernel<kernel, fn, R(Params...)> {
  static R call(Params... params) {
    const OperatorScope scope(kernel);
    return fn(std::forward<Params>(params)...);
  }
};

/// What OPENREG_IMPL passes on about a kernel: its strategy; for a form that follows from another operator's kernel, that operator first.
constexpr RegisteredKernel registered_kernel(const char* op, const char* strategy = "") { return {op, strategy}; }
constexpr RegisteredKernel registered_kernel(const char*, const char* op, const char* strategy) { return {op, strategy}; }

/// Registers a kernel. One whose signature differs was refused by then, and is not looked at any further: types that
/// PyTorch can't register at all would give errors of their own, which name no operator.
template <class Op, auto* fn, const RegisteredKernel& kernel>
void implement(torch::Library& library, const char* name) {
  if constexpr (matches_schema<Op, std::remove_pointer_t<decltype(fn)>>) {
    // Not TORCH_FN: what boxes it is then compiled for each signature, not for each operator.
    library.impl(name, &NamedKernel<kernel, fn>::call);
  }
}

}  // namespace openreg

// clang-format off: a name's length must not move the macros' backslashes

/// Fails to compile unless `FN` has the signature of OP (at::_ops::...), whose name is the literal NAME.
#define OPENREG_CHECK_SIGNATURE(NAME, OP, FN) \
  static_assert(::openreg::matches_schema<OP, decltype(FN)>, \
      "aten::" NAME ": the kernel's signature is not the one of this PyTorch; compare at::_ops::...::schema")

/// Registers FN as the kernel of aten::NAME with the library M. More arguments: those of registered_kernel().
#define OPENREG_IMPL(M, NAME, OP, FN, ...) \
  do { \
    OPENREG_CHECK_SIGNATURE(NAME, OP, FN); \
    static constexpr ::openreg::RegisteredKernel kKernel = ::openreg::registered_kernel("aten::" NAME __VA_OPT__(, ) __VA_ARGS__); \
    ::openreg::note_kernel("aten::" NAME, kKernel); \
    ::openreg::implement<OP, &FN, kKernel>(M, NAME); \
  } while (false)

/// Registers a boxed kernel, which serves any signature. Still fails to compile if the operator is gone.
#define OPENREG_IMPL_BOXED(M, NAME, OP, FN, ...) \
  do { \
    static_assert(std::is_function_v<OP::schema>, "aten::" NAME " is not an operator"); \
    static constexpr ::openreg::RegisteredKernel kKernel = ::openreg::registered_kernel("aten::" NAME __VA_OPT__(, ) __VA_ARGS__); \
    ::openreg::note_kernel("aten::" NAME, kKernel); \
    (M).impl(NAME, torch::CppFunction::makeFromBoxedFunction<(FN)>()); \
  } while (false)

// clang-format on
