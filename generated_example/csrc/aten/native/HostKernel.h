// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include "aten/Fallback.h"
#include "aten/HostAlias.h"
#include "aten/native/HostDtypes.h"
#include "aten/native/Launch.h"

// Note [The CPU's kernels on the device]
// Where launched functions reach device memory, a function of PyTorch's own for the CPU can run on the device: in the
// current stream, on CPU tensors that alias the device's, without copies. A backend's first kernels start like that:
//   host_op<Op>(args...)       an out= or in-place operator whose outputs have their final sizes
//   HostStub<stub>::run(...)   the CPU's function of a DispatchStub
//   host_op_checked<Op>(...)   the same, for operators whose arguments nobody checked yet; waits for it
//   host_call<Op>(args...)     any operator; waits for it and copies what it returns to the device
// host_op and HostStub are asynchronous. Elsewhere all run at once, on host copies that are copied back.
//
// The arguments are held by value until the function runs; aliases own no device memory (Note [Running a function on
// the device] says why that is enough). If an asynchronous function throws, a later call tells: Note [Errors of the device]
// in runtime/Exception.h. That it does not take a dtype its caller is told at once, where it works on an iterator:
// HostDtypes.h. The others throw to their caller.

namespace openreg::native {

/// A tensor of one call as the host's. An alias is only described at first, and made where the function runs: making a
/// tensor takes longer than queueing a call does.
class HostTensor {
 public:
  /// Undefined.
  HostTensor() = default;
  explicit HostTensor(at::Tensor host) : tensor_(std::move(host)) {}
  /// A CPU tensor over `data`, which it does not own, of the dtype of `like`.
  HostTensor(void* data, const at::TensorBase& like, at::IntArrayRef sizes, at::IntArrayRef strides);
  /// Gives the alias the pending conjugation and negation of `device`.
  void take_pending(const at::TensorBase& device);
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

/// The tensors of one call as the host's: aliases, or copies. Lives from the call until the function has run.
class HostTensors {
 public:
  HostTensors() : copies_(!kernels_reach_memory()) {}
  bool copies() const { return copies_; }
  /// A CPU tensor for `tensor`; undefined tensors stay undefined. A CPU tensor is kept; a 0-dim one is copied, since it
  /// may change before the function runs. `written`: the function may write it.
  HostTensor take(const at::TensorBase& tensor, bool written = true);
  /// Copies what may have been written to the device, where it was copied.
  void write_back();

 private:
  bool copies_;
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;
};

/// A TensorIterator of the device, to be built again on the host's tensors. `promotes`: its operands are converted to
/// the common dtype where they differ, as iterators of the CPU do it themselves.
class HostIterator {
 public:
  HostIterator(at::TensorIteratorBase& device, HostTensors& tensors, bool promotes);
  at::TensorIterator& get();
  /// After the function ran.
  void finish();

 private:
  c10::SmallVector<HostTensor, 3> operands_;
  std::vector<std::pair<at::Tensor, at::Tensor>> casts_;
  int outputs_;
  bool reduction_ = false;
  at::ScalarType common_;
  std::optional<at::TensorIterator> iter_;  // most of its cost is where the function runs
};

/// Runs `fn` below autograd, on as many threads as the caller of the operator has; what it throws becomes the device's
/// error.
void run_host_function(c10::function_ref<void()> fn, int threads) noexcept;

namespace detail {

/// How an argument of type T waits for the launched function: by value.
template <class T>
struct Held {
  std::decay_t<T> value;
  template <class U>
  Held(U&& from, HostTensors&, bool) : value(std::forward<U>(from)) {}
  T get() { return static_cast<T>(value); }
  void finish() {}
};

template <class T>
struct HeldTensor {
  HostTensor value;
  HeldTensor(const at::TensorBase& from, HostTensors& tensors, bool) : value(tensors.take(from)) {}
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
  Held(const std::optional<at::Tensor>& from, HostTensors& tensors, bool) {
    if (from.has_value()) {
      held = tensors.take(*from);
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

template <class T>
struct HeldTensors {
  std::vector<at::Tensor> value;
  template <class List>
  HeldTensors(const List& from, HostTensors& tensors, bool) {
    for (const at::Tensor& tensor : from) {
      value.push_back(tensors.take(tensor).get());
    }
  }
  void finish() {}
};
template <>
struct Held<at::TensorList> : HeldTensors<at::TensorList> {
  using HeldTensors::HeldTensors;
  at::TensorList get() { return value; }
};
template <>
struct Held<const at::ITensorListRef&> : HeldTensors<const at::ITensorListRef&> {
  using HeldTensors::HeldTensors;
  at::ITensorListRef get() { return at::ITensorListRef(value); }
};
template <>
struct Held<const c10::List<std::optional<at::Tensor>>&> {
  c10::List<std::optional<at::Tensor>> value;
  Held(const c10::List<std::optional<at::Tensor>>& from, HostTensors& tensors, bool) {
    for (const std::optional<at::Tensor> tensor : from) {
      value.push_back(tensor.has_value() ? std::optional(tensors.take(*tensor).get()) : std::nullopt);
    }
  }
  const c10::List<std::optional<at::Tensor>>& get() { return value; }
  void finish() {}
};

template <class E>
struct Held<c10::ArrayRef<E>> {
  std::vector<E> value;
  template <class List>
  Held(const List& from, HostTensors&, bool) : value(from.begin(), from.end()) {}
  c10::ArrayRef<E> get() { return value; }
  void finish() {}
};
template <class E>
struct Held<c10::OptionalArrayRef<E>> {
  std::optional<std::vector<E>> value;
  template <class List>
  Held(const List& from, HostTensors&, bool) {
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
  Held(c10::string_view from, HostTensors&, bool) : value(from) {}
  c10::string_view get() { return value; }
  void finish() {}
};

template <class Iterator>
struct HeldIterator {
  HostIterator value;
  HeldIterator(at::TensorIteratorBase& from, HostTensors& tensors, bool promotes) : value(from, tensors, promotes) {}
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

/// A function of the host and its arguments.
template <class Fn, class... Params>
class HostCall {
 public:
  template <class... Args>
  HostCall(Fn fn, bool promotes, Args&&... args)
      : fn_(fn), held_(make(tensors_, promotes, std::index_sequence_for<Params...>{}, args...)) {}
  bool copies() const { return tensors_.copies(); }
  int threads() const { return threads_; }
  void operator()() {
    std::apply(
        [this](auto&... held) {
          fn_(held.get()...);
          (held.finish(), ...);
        },
        held_);
  }
  void write_back() { tensors_.write_back(); }

 private:
  // In order, unlike the arguments of a constructor.
  template <size_t... I, class... Args>
  static std::tuple<Held<Params>...> make(
      HostTensors& tensors, bool promotes, std::index_sequence<I...>, Args&... args) {
    return std::tuple<Held<Params>...>{Held<Params>(args, tensors, promotes)...};
  }
  Fn fn_;
  int threads_ = at::get_num_threads();
  HostTensors tensors_;
  std::tuple<Held<Params>...> held_;
};

template <class Call>
void run_or_launch(std::unique_ptr<Call> call) {
  if (call->copies()) {
    (*call)();
    call->write_back();
    return;
  }
  const auto run = [](void* argument) {
    const std::unique_ptr<Call> owned(static_cast<Call*>(argument));
    run_host_function([&] { (*owned)(); }, owned->threads());
  };
  OPENREG_CHECK(orLaunchKernel(getCurrentStream().stream(), run, call.get()));
  static_cast<void>(call.release());
}

at::Tensor to_current_device(const at::Tensor& tensor);
std::vector<at::Tensor> to_current_device(std::vector<at::Tensor> tensors);
template <class... T>
std::tuple<T...> to_current_device(std::tuple<T...> values) {
  return std::apply([](auto&... value) { return std::tuple<T...>(to_current_device(value)...); }, values);
}
template <class T>
T to_current_device(T value) {
  return value;
}

template <class Op, class Schema>
struct OpCall;
template <class Op, class R, class... Params>
struct OpCall<Op, R(Params...)> {
  template <class... Args>
  static void run(Args&&... args) {
    const auto fn = [](auto&&... given) { static_cast<void>(Op::call(std::forward<decltype(given)>(given)...)); };
    run_or_launch(std::make_unique<HostCall<decltype(fn), Params...>>(fn, false, args...));
  }

  template <class... Args>
  static void run_checked(Args&&... args) {
    const auto fn = [](auto&&... given) { static_cast<void>(Op::call(std::forward<decltype(given)>(given)...)); };
    HostCall<decltype(fn), Params...> call(fn, false, args...);
    if (call.copies()) {
      call();
      call.write_back();
    } else {
      run_on_worker([&] { call(); });
    }
  }

  template <class... Args>
  static R wait(Args&&... args) {
    if (!kernels_reach_memory()) {
      return detour<Op>(args...);
    }
    std::optional<R> result;
    const auto fn = [&](auto&&... given) { result.emplace(Op::call(std::forward<decltype(given)>(given)...)); };
    HostCall<decltype(fn), Params...> call(fn, false, args...);
    run_on_worker([&] { call(); });
    return to_current_device(std::move(*result));
  }
};

}  // namespace detail

/// Runs the CPU's kernel of `Op` (at::_ops::...), an out= or in-place operator, on the device's memory, in stream order.
/// Its outputs must have their final sizes. Arguments as at::_ops::...::call takes them, int64_t for SymInt.
template <class Op, class... Args>
void host_op(Args&&... args) {
  detail::OpCall<Op, typename Op::schema>::run(std::forward<Args>(args)...);
}

/// The same, but waits for the current stream. Errors: those of the CPU's kernel, thrown here.
template <class Op, class... Args>
void host_op_checked(Args&&... args) {
  detail::OpCall<Op, typename Op::schema>::run_checked(std::forward<Args>(args)...);
}

/// What `Op`, an operator that returns new tensors, gives on the CPU, with the results copied to the current device.
/// Tensors that it writes without its schema saying so, as batch normalization does, are written where they are. Waits
/// for the current stream. Errors: those of the CPU's kernel, thrown here.
template <class Op, class... Args>
auto host_call(Args&&... args) {
  return detail::OpCall<Op, typename Op::schema>::wait(std::forward<Args>(args)...);
}

/// What a DispatchStub can be given for the device: run() has its type. `promotes`: see HostIterator.
template <auto& stub, bool promotes = false, class FnPtr = typename std::remove_reference_t<decltype(stub)>::FnPtr>
struct HostStub;
template <auto& stub, bool promotes, class... Params>
struct HostStub<stub, promotes, void (*)(Params...)> {
  static void run(Params... args) {
    TORCH_CHECK_NOT_IMPLEMENTED(stub.is_device_supported(at::kCPU), "PyTorch has no such function for the CPU");
    const auto fn = [](auto&&... given) { stub(at::kCPU, std::forward<decltype(given)>(given)...); };
    if constexpr (detail::tells_dtypes<Params...>) {
      static auto& taken = *new detail::TakenDtypes();
      detail::check_dtypes(taken, promotes, fn, args...);
    }
    detail::run_or_launch(std::make_unique<detail::HostCall<decltype(fn), Params...>>(fn, promotes, args...));
  }
};

/// For index_put_with_sort_stub, which adds values up at repeated indices: the CPU does so without sorting.
void host_index_put(at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices, const at::Tensor& values,
    bool accumulate, bool unsafe);

}  // namespace openreg::native
