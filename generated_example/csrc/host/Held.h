// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/TensorIterator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "host/Dtypes.h"
#include "host/Memory.h"
#include "host/Run.h"
#include "host/Tensors.h"
#include "host/Work.h"
#include "runtime/Capturing.h"

// Note [Arguments that wait]
// A function that runs later finds its arguments as they were when it was queued: numbers and lists are copied, tensors are
// described by address, sizes and strides, and own no memory. One thread writes such a description and another reads it, so
// it is small.

namespace openreg::native {

/// What a function of the host does with what it is given.
struct Effects {
  bool promotes = false;  // its iterators: see HostIterator
  bool writes_inputs = true;  // it may write what it takes as a constant tensor
  bool reads_outputs = true;  // it may read its outputs, or leave some of their elements as they are
};

/// A tensor of an asynchronous call as the host's. It is only described at first, and made where the function runs: making a
/// tensor takes longer than queueing a call does.
class HostTensor {
 public:
  /// Undefined.
  HostTensor() = default;
  explicit HostTensor(at::Tensor host) : tensor_(std::move(host)) {}
  /// A CPU tensor over the device's `data`, which becomes an operand of `memory`, of the dtype of `like`. `memory` must
  /// outlive it. `written`: the function may write it. `read`: what it holds before matters.
  HostTensor(void* data, const at::TensorBase& like, at::IntArrayRef sizes, at::IntArrayRef strides, HostMemory& memory,
      bool written, bool read = true);
  /// Of a tensor of the device; undefined stays undefined. A CPU tensor is kept; a 0-dim one is copied, since it may change
  /// before the function runs.
  static HostTensor of(const at::TensorBase& tensor, HostMemory& memory, bool written = true, bool read = true);
  /// The CPU tensor, made by the first call. After memory.fetch().
  at::Tensor& get();

 private:
  at::Tensor make() const;

  at::Tensor tensor_;
  void* data_ = nullptr;
  const HostMemory* memory_ = nullptr;
  bool conj_ = false;
  bool neg_ = false;
  bool wrapped_number_ = false;
  caffe2::TypeMeta dtype_;
  at::DimVector sizes_;
  at::DimVector strides_;
};

/// A TensorIterator of the device, to be built again on the host's tensors. If the function promotes, operands are converted
/// to the common dtype where they differ, as iterators of the CPU do it themselves.
class HostIterator {
 public:
  HostIterator(at::TensorIteratorBase& device, HostMemory& memory, const Effects& effects);
  at::TensorIterator& get();
  /// After the function ran.
  void finish();

 private:
  /// One of the device, as the iterator sees it: broadcast, dimensions merged; or a tensor of the CPU.
  struct Operand {
    void* data = nullptr;
    caffe2::TypeMeta dtype;
    bool wrapped_number = false;
    bool of_nothing = false;  // the result of a reduction over nothing
    at::Tensor host;
  };
  void add_copied(const Operand& operand, size_t index, bool written, bool read);
  at::Tensor tensor(size_t index) const;
  int64_t size(const Operand& operand, size_t dim) const;

  // Small, since one thread writes it and another reads it: what is large is made where the function runs.
  HostMemory& memory_;
  int outputs_;
  bool reduction_ = false;
  at::ScalarType common_;
  c10::SmallVector<Operand, 3> operands_;
  c10::SmallVector<int64_t, 2> sizes_;  // the slowest dimension first
  c10::SmallVector<int64_t, 6> strides_;  // bytes, by operand
  using Casts = std::vector<std::pair<at::Tensor, at::Tensor>>;  // operand, what is computed in its place
  std::unique_ptr<Casts> casts_;
  std::unique_ptr<at::TensorIterator> iter_;
};

namespace detail {

/// How an argument of type T waits for the launched function: by value.
template <class T>
struct Held {
  std::decay_t<T> value;
  template <class U>
  Held(U&& from, HostMemory&, const Effects&) : value(std::forward<U>(from)) {}
  T get() { return static_cast<T>(value); }
  void finish() {}
};

template <class T>
struct HeldTensor {
  HostTensor value;
  static constexpr bool output = std::is_same_v<T, at::Tensor&>;
  HeldTensor(const at::TensorBase& from, HostMemory& memory, const Effects& effects)
      : value(HostTensor::of(from, memory, output || effects.writes_inputs, !output || effects.reads_outputs)) {}
  T get() { return value.get(); }
  void finish() {}
};
template <>
struct Held<const at::Tensor&> : HeldTensor<const at::Tensor&> {
  using HeldTensor::HeldTensor;
};
template <>
struct Held<at::Tensor&> : HeldTensor<at::Tensor&> {
  using HeldTensor::HeldTensor;
};
template <>
struct Held<at::Tensor> : HeldTensor<at::Tensor> {
  using HeldTensor::HeldTensor;
};
template <>
struct Held<const at::TensorBase&> : HeldTensor<const at::TensorBase&> {
  using HeldTensor::HeldTensor;
};

template <>
struct Held<const std::optional<at::Tensor>&> {
  std::optional<HostTensor> held;
  std::optional<at::Tensor> value;
  Held(const std::optional<at::Tensor>& from, HostMemory& memory, const Effects&) {
    if (from.has_value()) {
      held = HostTensor::of(*from, memory);
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

struct HeldTensors {
  std::vector<HostTensor> held;
  std::vector<at::Tensor> value;
  template <class List>
  HeldTensors(const List& from, HostMemory& memory, const Effects&) {
    for (const at::Tensor& tensor : from) {
      held.push_back(HostTensor::of(tensor, memory));
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
struct Held<at::TensorList> : HeldTensors {
  using HeldTensors::HeldTensors;
};
template <>
struct Held<const at::ITensorListRef&> : HeldTensors {
  using HeldTensors::HeldTensors;
  at::ITensorListRef get() { return at::ITensorListRef(HeldTensors::get()); }
};
template <>
struct Held<const c10::List<std::optional<at::Tensor>>&> {
  std::vector<std::optional<HostTensor>> held;
  c10::List<std::optional<at::Tensor>> value;
  Held(const c10::List<std::optional<at::Tensor>>& from, HostMemory& memory, const Effects&) {
    for (const std::optional<at::Tensor> tensor : from) {
      held.push_back(tensor.has_value() ? std::optional(HostTensor::of(*tensor, memory)) : std::nullopt);
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

template <class E>
struct Held<c10::ArrayRef<E>> {
  std::vector<E> value;
  template <class List>
  Held(const List& from, HostMemory&, const Effects&) : value(from.begin(), from.end()) {}
  c10::ArrayRef<E> get() { return value; }
  void finish() {}
};
template <class E>
struct Held<c10::OptionalArrayRef<E>> {
  std::optional<std::vector<E>> value;
  template <class List>
  Held(const List& from, HostMemory&, const Effects&) {
    if (from.has_value()) {
      value.emplace(from->begin(), from->end());
    }
  }
  c10::OptionalArrayRef<E> get() {
    return value.has_value() ? c10::OptionalArrayRef<E>(*value) : c10::OptionalArrayRef<E>();
  }
  void finish() {}
};
template <>
struct Held<c10::string_view> {
  std::string value;
  Held(c10::string_view from, HostMemory&, const Effects&) : value(from) {}
  c10::string_view get() { return value; }
  void finish() {}
};

template <class Iterator>
struct HeldIterator {
  HostIterator value;
  HeldIterator(at::TensorIteratorBase& from, HostMemory& memory, const Effects& effects) : value(from, memory, effects) {}
  Iterator& get() { return value.get(); }
  void finish() { value.finish(); }
};
template <>
struct Held<at::TensorIteratorBase&> : HeldIterator<at::TensorIteratorBase> {
  using HeldIterator::HeldIterator;
};
template <>
struct Held<at::TensorIterator&> : HeldIterator<at::TensorIterator> {
  using HeldIterator::HeldIterator;
};

/// An argument of a call that waits. What is no tensor is held as for one that does not.
template <class T, bool tensor = is_tensor<T>>
struct Awaited : Held<T> {
  template <class U>
  Awaited(const U& from, HostTensors&, HostMemory& memory) : Held<T>(from, memory, {}) {}
};
template <class T>
struct Awaited<T, true> {
  at::Tensor value;
  Awaited(const at::TensorBase& from, HostTensors& host, HostMemory&) : value(host.on_host(at::Tensor(from))) {}
  T get() { return static_cast<T>(value); }
};
template <>
struct Awaited<const std::optional<at::Tensor>&, false> {
  std::optional<at::Tensor> value;
  Awaited(const std::optional<at::Tensor>& from, HostTensors& host, HostMemory&) {
    if (from.has_value()) {
      value = host.on_host(*from);
    }
  }
  const std::optional<at::Tensor>& get() { return value; }
};

/// Runs `fn`, whose parameters are Params, on tensors of the host and waits. Errors: those of `fn`.
template <class... Params, class Fn, class... Args>
void run_awaited(const Fn& fn, const Args&... args) {
  const HostAccess access = device_access();
  HostWork work(access, HostCode::kCpuKernel);
  HostTensors host(access);
  const auto add = [&host](const auto& arg) {
    if constexpr (is_tensor<decltype(arg)>) {
      host.add(at::Tensor(arg), /*written=*/true);
    } else if constexpr (is_optional_tensor<decltype(arg)>) {
      if (arg.has_value()) {
        host.add(*arg, /*written=*/true);
      }
    }
  };
  (add(args), ...);
  host.fetch();
  HostMemory none(HostAccess::kAlias);
  std::tuple<Awaited<Params>...> awaited{Awaited<Params>(args, host, none)...};
  run_on_host(access, [&] { std::apply([&fn](auto&... arg) { fn(arg.get()...); }, awaited); });
  host.update();
  work.copied(host.bytes_to_host(), host.bytes_to_device());
}

/// True if the call was served: see Note [Dtypes that a function of the CPU takes].
template <class... Params, class Fn, class... Args>
bool ran_awaited(TakenDtypes& taken, const Fn& fn, const Args&... args) {
  c10::SmallVector<const at::TensorBase*, 4> tensors;
  CallKind kind;
  const auto note_tensor = [&](const at::TensorBase& tensor) {
    tensors.push_back(&tensor);
    kind.add(tensor.defined() ? tensor.scalar_type() : at::ScalarType::Undefined);
  };
  const auto note = [&](const auto& arg) {
    if constexpr (is_tensor<decltype(arg)>) {
      note_tensor(arg);
    } else if constexpr (is_optional_tensor<decltype(arg)>) {
      kind.add(uint8_t{arg.has_value()});
      if (arg.has_value()) {
        note_tensor(*arg);
      }
    } else {
      add_kind(kind, arg);
    }
  };
  (note(args), ...);
  const bool known = taken.has(kind);
  const at::ScalarType own =
      tensors.empty() || !tensors[0]->defined() ? at::ScalarType::Undefined : tensors[0]->scalar_type();
  const bool all_fit = (converts(args, own) && ...);
  if (known && all_fit && !overlap(tensors)) {
    return false;
  }
  if (is_current_stream_capturing()) {  // nothing runs, so nothing is known: a replay reports it
    return false;
  }
  run_awaited<Params...>(fn, args...);
  if (!known && all_fit) {
    taken.add(kind);
  }
  return true;
}

/// The arguments of one call, by number: two may be of one type. Each is made where it stays, the first one first.
template <size_t I, class Param>
struct HeldArgument : Held<Param> {
  using Held<Param>::Held;
};

template <class Numbers, class... Params>
struct HeldArguments;
template <size_t... I, class... Params>
struct HeldArguments<std::index_sequence<I...>, Params...> : HeldArgument<I, Params>... {
  template <class... Args>
  explicit HeldArguments(HostMemory& memory, const Effects& effects, Args&... args)
      : HeldArgument<I, Params>(args, memory, effects)... {}
  template <class Fn>
  void call(Fn& fn) {
    fn(HeldArgument<I, Params>::get()...);
    (HeldArgument<I, Params>::finish(), ...);
  }
};

}  // namespace detail
}  // namespace openreg::native
