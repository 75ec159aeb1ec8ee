// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/TensorIterator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/string_view.h>

#include "host/Iterator.h"
#include "host/Tensors.h"
#include "runtime/Export.h"

// A call of a CPU function with arguments on the device: each argument is a value, or becomes a host tensor.

namespace openreg::native::detail {

/// An argument of type T that is not a tensor, by value.
template <class T>
struct Value {
  std::decay_t<T> value;
  template <class U>
  explicit Value(U&& from) : value(std::forward<U>(from)) {}
  T get() { return static_cast<T>(value); }
};
template <class E>
struct Value<c10::ArrayRef<E>> {
  std::vector<E> value;
  template <class List>
  explicit Value(const List& from) : value(from.begin(), from.end()) {}
  c10::ArrayRef<E> get() { return value; }
};
template <class E>
struct Value<c10::OptionalArrayRef<E>> {
  std::optional<std::vector<E>> value;
  template <class List>
  explicit Value(const List& from) {
    if (from.has_value()) {
      value.emplace(from->begin(), from->end());
    }
  }
  c10::OptionalArrayRef<E> get() {
    return value.has_value() ? c10::OptionalArrayRef<E>(*value) : c10::OptionalArrayRef<E>();
  }
};
template <>
struct Value<c10::string_view> {
  std::string value;
  explicit Value(c10::string_view from) : value(from) {}
  c10::string_view get() { return value; }
};

template <class T>
inline constexpr bool is_tensor = std::is_base_of_v<at::TensorBase, std::decay_t<T>>;
template <class T>
inline constexpr bool is_optional_tensor = std::is_same_v<std::decay_t<T>, std::optional<at::Tensor>>;
template <class T>
inline constexpr bool is_iterator = std::is_base_of_v<at::TensorIteratorBase, std::decay_t<T>>;

/// An argument of type T on the host. A tensor is added to `host` first, and found there after fetch().
template <class T, bool tensor = is_tensor<T>, bool iterator = is_iterator<T>>
struct HostArgument : Value<T> {
  template <class U>
  HostArgument(U&& from, HostTensors&, const Effects&) : Value<T>(std::forward<U>(from)) {}
  T get(HostTensors&) { return Value<T>::get(); }
  void finish() {}
};
template <class T>
struct HostArgument<T, true, false> {
  at::Tensor value;
  static constexpr bool output = std::is_same_v<T, at::Tensor&>;
  HostArgument(const at::TensorBase& from, HostTensors& host, const Effects& effects) : value(from) {
    host.add(value, output || effects.writes_inputs, !output || effects.reads_outputs);
  }
  T get(HostTensors& host) {
    value = host.on_host(value);
    return static_cast<T>(value);
  }
  void finish() {}
};
template <class T>
struct HostArgument<T, false, true> {
  HostIterator value;
  HostArgument(at::TensorIteratorBase& from, HostTensors& host, const Effects& effects) : value(from, host, effects) {}
  T get(HostTensors& host) { return value.get(host); }
  void finish() { value.finish(); }
};
template <>
struct HostArgument<const std::optional<at::Tensor>&, false, false> {
  std::optional<at::Tensor> value;
  HostArgument(const std::optional<at::Tensor>& from, HostTensors& host, const Effects& effects) : value(from) {
    if (from.has_value()) {
      host.add(*from, effects.writes_inputs);
    }
  }
  const std::optional<at::Tensor>& get(HostTensors& host) {
    value = value.has_value() ? std::optional(host.on_host(*value)) : std::nullopt;
    return value;
  }
  void finish() {}
};
struct HostTensorList {
  std::vector<at::Tensor> value;
  template <class List>
  HostTensorList(const List& from, HostTensors& host, const Effects& effects) {
    for (const at::Tensor& tensor : from) {
      host.add(value.emplace_back(tensor), effects.writes_inputs);
    }
  }
  at::TensorList get(HostTensors& host) {
    for (at::Tensor& tensor : value) {
      tensor = host.on_host(tensor);
    }
    return value;
  }
  void finish() {}
};
template <>
struct HostArgument<at::TensorList, false, false> : HostTensorList {
  using HostTensorList::HostTensorList;
};
template <>
struct HostArgument<const at::ITensorListRef&, false, false> : HostTensorList {
  using HostTensorList::HostTensorList;
  at::ITensorListRef get(HostTensors& host) { return at::ITensorListRef(HostTensorList::get(host)); }
};
template <>
struct HostArgument<const c10::List<std::optional<at::Tensor>>&, false, false> {
  c10::List<std::optional<at::Tensor>> value;
  HostArgument(const c10::List<std::optional<at::Tensor>>& from, HostTensors& host, const Effects& effects) : value(from.copy()) {
    host.add(c10::IValue(value), effects.writes_inputs);
  }
  const c10::List<std::optional<at::Tensor>>& get(HostTensors& host) {
    value = host.on_host(c10::IValue(value)).toOptionalTensorList();
    return value;
  }
  void finish() {}
};

/// Whether `number` can be converted to `dtype` as c10::Scalar::to() does, which throws if not.
OPENREG_RUNTIME_API bool fits(const c10::Scalar& number, at::ScalarType dtype);

/// Calls `fn`, whose parameters are Params, on tensors of `host`, and waits for it. Errors: those of `fn`.
template <class... Params, class Fn, class... Args>
void call_on_host(HostTensors& host, const Fn& fn, const Effects& effects, Args&... args) {
  std::tuple<HostArgument<Params>...> arguments{HostArgument<Params>(args, host, effects)...};
  host.fetch();
  const auto call = [&](auto&... each) {
    fn(each.get(host)...);
    (each.finish(), ...);
  };
  host.run([&] { std::apply(call, arguments); });
  host.update();
}

}  // namespace openreg::native::detail
