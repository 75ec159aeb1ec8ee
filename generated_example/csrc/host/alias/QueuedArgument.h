// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/TensorIterator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "host/Call.h"
#include "host/Iterator.h"

// Note [Arguments that wait]
// A function that runs later gets its arguments as they were when it was queued: numbers and lists are copied, tensors are
// described by address, sizes and strides, and own no memory. One thread writes such a description and another reads it, so
// it is small.

namespace openreg::native {

/// A tensor of an asynchronous call as the host's. It is only described at first, and made where the function runs: making a
/// tensor takes longer than queueing a call does.
class HostTensor {
 public:
  /// Undefined.
  HostTensor() = default;
  explicit HostTensor(at::Tensor host) : tensor_(std::move(host)) {}
  /// A CPU tensor over the device's `data`, of the dtype of `like`.
  HostTensor(void* data, const at::TensorBase& like, at::IntArrayRef sizes, at::IntArrayRef strides);
  /// Of a tensor of the device; undefined stays undefined. A CPU tensor is kept; a 0-dim one is copied, since it may change
  /// before the function runs.
  static HostTensor of(const at::TensorBase& tensor);
  /// The CPU tensor, made by the first call.
  at::Tensor& get();

 private:
  at::Tensor make() const;

  at::Tensor tensor_;
  void* data_ = nullptr;
  bool conj_ = false;
  bool neg_ = false;
  bool wrapped_number_ = false;
  caffe2::TypeMeta dtype_;
  at::DimVector sizes_;
  at::DimVector strides_;
};

/// A TensorIterator of the device, to be built again on the host's tensors. One thread writes it and another reads it, so it is
/// small: what is large is made where the function runs.
class QueuedIterator {
 public:
  QueuedIterator(at::TensorIteratorBase& device, const Effects& effects);
  at::TensorIterator& get();
  /// After the function ran.
  void finish() { iter_->finish(); }

 private:
  /// One of the device, as the iterator sees it: broadcast, dimensions merged; or a tensor of the CPU.
  struct Operand {
    void* data = nullptr;
    caffe2::TypeMeta dtype;
    bool wrapped_number = false;
    bool of_nothing = false;  // the result of a reduction over nothing
    at::Tensor host;
  };
  at::Tensor tensor(size_t index) const;

  size_t outputs_;
  bool reduction_ = false;
  at::ScalarType common_;
  c10::SmallVector<Operand, 3> operands_;
  c10::SmallVector<int64_t, 2> sizes_;  // the slowest dimension first
  c10::SmallVector<int64_t, 6> strides_;  // bytes, by operand
  std::unique_ptr<CpuIterator> iter_;
};

namespace detail {

/// How an argument of type T waits for the launched function.
template <class T>
struct QueuedArgument : Value<T> {
  template <class U>
  QueuedArgument(U&& from, const Effects&) : Value<T>(std::forward<U>(from)) {}
  void finish() {}
};

template <class T>
struct QueuedTensor {
  HostTensor value;
  QueuedTensor(const at::TensorBase& from, const Effects&) : value(HostTensor::of(from)) {}
  T get() { return value.get(); }
  void finish() {}
};
template <>
struct QueuedArgument<const at::Tensor&> : QueuedTensor<const at::Tensor&> {
  using QueuedTensor::QueuedTensor;
};
template <>
struct QueuedArgument<at::Tensor&> : QueuedTensor<at::Tensor&> {
  using QueuedTensor::QueuedTensor;
};
template <>
struct QueuedArgument<at::Tensor> : QueuedTensor<at::Tensor> {
  using QueuedTensor::QueuedTensor;
};
template <>
struct QueuedArgument<const at::TensorBase&> : QueuedTensor<const at::TensorBase&> {
  using QueuedTensor::QueuedTensor;
};

template <>
struct QueuedArgument<const std::optional<at::Tensor>&> {
  std::optional<HostTensor> held;
  std::optional<at::Tensor> value;
  QueuedArgument(const std::optional<at::Tensor>& from, const Effects&) {
    if (from.has_value()) {
      held = HostTensor::of(*from);
    }
  }
  const std::optional<at::Tensor>& get() {
    if (held.has_value()) {
      value = held->get();
    }
    return value;
  }
  void finish() {}
};

struct QueuedTensors {
  std::vector<HostTensor> held;
  std::vector<at::Tensor> value;
  template <class List>
  QueuedTensors(const List& from, const Effects&) {
    for (const at::Tensor& tensor : from) {
      held.push_back(HostTensor::of(tensor));
    }
  }
  at::TensorList get() {
    value.clear();
    for (HostTensor& tensor : held) {
      value.push_back(tensor.get());
    }
    return value;
  }
  void finish() {}
};
template <>
struct QueuedArgument<at::TensorList> : QueuedTensors {
  using QueuedTensors::QueuedTensors;
};
template <>
struct QueuedArgument<const at::ITensorListRef&> : QueuedTensors {
  using QueuedTensors::QueuedTensors;
  at::ITensorListRef get() { return at::ITensorListRef(QueuedTensors::get()); }
};
template <>
struct QueuedArgument<const c10::List<std::optional<at::Tensor>>&> {
  std::vector<std::optional<HostTensor>> held;
  c10::List<std::optional<at::Tensor>> value;
  QueuedArgument(const c10::List<std::optional<at::Tensor>>& from, const Effects&) {
    for (const std::optional<at::Tensor> tensor : from) {
      held.push_back(tensor.has_value() ? std::optional(HostTensor::of(*tensor)) : std::nullopt);
    }
  }
  const c10::List<std::optional<at::Tensor>>& get() {
    value.clear();
    for (std::optional<HostTensor>& tensor : held) {
      value.push_back(tensor.has_value() ? std::optional(tensor->get()) : std::nullopt);
    }
    return value;
  }
  void finish() {}
};

template <class Iterator>
struct QueuedIteratorArgument {
  QueuedIterator value;
  QueuedIteratorArgument(at::TensorIteratorBase& from, const Effects& effects) : value(from, effects) {}
  Iterator& get() { return value.get(); }
  void finish() { value.finish(); }
};
template <>
struct QueuedArgument<at::TensorIteratorBase&> : QueuedIteratorArgument<at::TensorIteratorBase> {
  using QueuedIteratorArgument::QueuedIteratorArgument;
};
template <>
struct QueuedArgument<at::TensorIterator&> : QueuedIteratorArgument<at::TensorIterator> {
  using QueuedIteratorArgument::QueuedIteratorArgument;
};

/// The arguments of one call, by number: two may be of one type. Each is made where it stays, the first one first.
template <size_t I, class Param>
struct QueuedParameter : QueuedArgument<Param> {
  using QueuedArgument<Param>::QueuedArgument;
};

template <class Numbers, class... Params>
struct HeldArguments;
template <size_t... I, class... Params>
struct HeldArguments<std::index_sequence<I...>, Params...> : QueuedParameter<I, Params>... {
  template <class... Args>
  explicit HeldArguments(const Effects& effects, Args&... args) : QueuedParameter<I, Params>(args, effects)... {}
  template <class Fn>
  void call(Fn& fn) {
    fn(QueuedParameter<I, Params>::get()...);
    (QueuedParameter<I, Params>::finish(), ...);
  }
};

}  // namespace detail
}  // namespace openreg::native
