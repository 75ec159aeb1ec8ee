// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <torch/library.h>

#include "host/Operator.h"
#include "runtime/Guard.h"

// Note [Kernels]
// OPENREG_KERNEL registers a kernel in the kernel's own file, and runs it with the device of its arguments as the current one.
// PyTorch compares a kernel's signature with the operator's schema when the library is loaded, and the process dies
// there if they differ, for example after PyTorch changed an operator. The macros here compare them when the kernel is
// compiled, so that a drifted kernel is one error that names its operator. For a schema with SymInt, a
// signature with int64_t can be registered too.

namespace openreg {

template <class Op, class Fn>
inline constexpr bool matches_schema = std::is_same_v<Fn, typename Op::schema> ||
    std::is_same_v<Fn, typename c10::fn_remove_symint<typename Op::schema>::type>;

/// Sets `found`, unless it is set, to the device of an argument that is on one of the backend's: 0-dim CPU tensors may stand before it.
template <class T>
void find_device(std::optional<at::Device>& found, const T& argument) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    if (!found.has_value() && argument.defined() && argument.is_privateuseone()) {
      found = argument.device();
    }
  } else if constexpr (std::is_convertible_v<T, at::ITensorListRef>) {
    for (const at::Tensor& tensor : at::ITensorListRef(argument)) {
      find_device(found, tensor);
    }
  } else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
    find_device(found, argument.value_or(at::Tensor()));
  } else if constexpr (std::is_same_v<T, std::optional<at::Device>>) {
    found = found.has_value() || !argument.has_value() || !argument->has_index() ? found : argument;
  }
}

/// Makes the device of an operator's arguments current for a scope, if they have one. A c10::DeviceGuard would look up the type first.
class OperandsGuard : public OptionalOpenRegGuard {
 public:
  template <class... Arguments>
  explicit OperandsGuard(const Arguments&... arguments) : OptionalOpenRegGuard(device_of(arguments...)) {}

 private:
  template <class... Arguments>
  static std::optional<at::Device> device_of(const Arguments&... arguments) {
    std::optional<at::Device> found;
    (find_device(found, arguments), ...);
    return found;
  }
};

/// `fn` inside an OperandsGuard.
template <auto* fn, class Fn = std::remove_pointer_t<decltype(fn)>>
struct GuardedKernel;
template <auto* fn, class R, class... Params>
struct GuardedKernel<fn, R(Params...)> {
  static R call(Params... params) {
    const OperandsGuard guard(params...);
    return fn(std::forward<Params>(params)...);
  }
};

/// Registers a kernel. One whose signature differs was refused by then, and is not looked at any further: types that
/// PyTorch can't register at all would give errors of their own, which name no operator.
template <class Op, auto* fn>
void implement(torch::Library& library, const char* name) {
  if constexpr (matches_schema<Op, std::remove_pointer_t<decltype(fn)>>) {
    // Not TORCH_FN: what boxes it is then compiled for each signature, not for each operator.
    library.impl(name, fn);
  }
}

}  // namespace openreg

// clang-format off: a name's length must not move the macros' backslashes

#ifndef OPENREG_REGISTER  // a component that names kernels while they run has its own
#define OPENREG_REGISTER(M, NAME, OP, FN, ...) ::openreg::implement<OP, FN>(M, NAME)
#define OPENREG_NOTE_KERNEL(NAME, ...) static_cast<void>(NAME)
#endif

/// Registers FN, at namespace scope, as the kernel of aten::NAME, whose declaration is OP (at::_ops::...); then what is noted of it.
#define OPENREG_KERNEL(NAME, OP, FN, ...) \
  TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { \
    OPENREG_REGISTER(library, NAME, OP, &::openreg::GuardedKernel<&FN>::call __VA_OPT__(, ) __VA_ARGS__); \
  } \
  OPENREG_CHECK_SIGNATURE(NAME, OP, FN)

/// Fails to compile unless `FN` has the signature of OP, whose name is the literal NAME.
#define OPENREG_CHECK_SIGNATURE(NAME, OP, FN) \
  static_assert(::openreg::matches_schema<OP, decltype(FN)>, \
      "aten::" NAME ": the kernel's signature is not the one of this PyTorch; compare at::_ops::...::schema")

/// Registers FN with the library M, in a TORCH_LIBRARY_IMPL: a kernel that guards the device itself.
#define OPENREG_IMPL(M, NAME, OP, FN, ...) \
  do { \
    OPENREG_CHECK_SIGNATURE(NAME, OP, FN); \
    OPENREG_REGISTER(M, NAME, OP, &FN __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

/// Registers a boxed kernel, which serves any signature. Still fails to compile if the operator is gone.
#define OPENREG_IMPL_BOXED(M, NAME, OP, FN, ...) \
  do { \
    static_assert(std::is_function_v<OP::schema>, "aten::" NAME " is not an operator"); \
    OPENREG_NOTE_KERNEL(NAME __VA_OPT__(, ) __VA_ARGS__); \
    (M).impl(NAME, torch::CppFunction::makeFromBoxedFunction<(FN)>()); \
  } while (false)

// clang-format on
