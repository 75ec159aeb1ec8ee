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

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include "host/Dtypes.h"
#include "host/Fallback.h"
#include "host/Launch.h"
#include "host/Run.h"
#include "host/Tensors.h"

// Note [The CPU's kernels on the device]
// A backend's first kernels are PyTorch's own for the CPU, on the device's memory (Note [Host code on device memory]):
//   host_call<Op>(args...)     any operator; waits for it, takes home what it returns
//   host_op<Op>(args...)       an out= or in-place operator whose outputs have their final sizes; does not wait
//   HostStub<stub>::run(...)   the CPU's function of a DispatchStub; does not wait
// The last two are asynchronous where functions launched reach device memory; elsewhere all run at once, on copies.
//
// The arguments are held by value until the function runs; their tensors own no device memory (Note [Running a function on
// the device] says why that is enough). If an asynchronous function throws, a later call tells: Note [Errors of the device]
// in runtime/Exception.h. That it does not take a dtype its caller is told at once, where it works on an iterator:
// Dtypes.h. host_call throws to its caller.

namespace openreg::native {

/// A tensor of an asynchronous call as the host's. It is only described at first, and made where the function runs: making a
/// tensor takes longer than queueing a call does.
class HostTensor {
 public:
  /// Undefined.
  HostTensor() = default;
  explicit HostTensor(at::Tensor host) : tensor_(std::move(host)) {}
  /// A CPU tensor over the device's `data`, which becomes an operand of `memory`, of the dtype of `like`. `memory` must
  /// outlive it. `written`: the function may write it.
  HostTensor(void* data, const at::TensorBase& like, at::IntArrayRef sizes, at::IntArrayRef strides, HostMemory& memory,
      bool written);
  /// Of a tensor of the device; undefined stays undefined. A CPU tensor is kept; a 0-dim one is copied, since it may change
  /// before the function runs.
  static HostTensor of(const at::TensorBase& tensor, HostMemory& memory, bool written = true);
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

/// A TensorIterator of the device, to be built again on the host's tensors. `promotes`: its operands are converted to
/// the common dtype where they differ, as iterators of the CPU do it themselves.
class HostIterator {
 public:
  HostIterator(at::TensorIteratorBase& device, HostMemory& memory, bool promotes);
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
  void add_copied(const Operand& operand, size_t index, bool written);
  at::Tensor tensor(size_t index) const;
  int64_t size(const Operand& operand, size_t dim) const;

  // Small, since one thread writes it and another reads it: what is large is made where the function runs.
  HostMemory& memory_;
  int outputs_;
  bool reduction_ = false;
  at::ScalarType common_;
  c10::SmallVector<Operand, 3> operands_;
  c10::SmallVector<int64_t, 2> sizes_;  // the slowest dimension first
  c10::SmallVector<int64_t, 6> strides_;  // elements, by operand
  std::vector<std::pair<at::Tensor, at::Tensor>> casts_;
  std::unique_ptr<at::TensorIterator> iter_;
};

namespace detail {

/// How an argument of type T waits for the launched function: by value.
template <class T>
struct Held {
  std::decay_t<T> value;
  template <class U>
  Held(U&& from, HostMemory&, bool) : value(std::forward<U>(from)) {}
  T get() { return static_cast<T>(value); }
  void finish() {}
};

template <class T>
struct HeldTensor {
  HostTensor value;
  HeldTensor(const at::TensorBase& from, HostMemory& memory, bool) : value(HostTensor::of(from, memory)) {}
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
  Held(const std::optional<at::Tensor>& from, HostMemory& memory, bool) {
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
  HeldTensors(const List& from, HostMemory& memory, bool) {
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
  Held(const c10::List<std::optional<at::Tensor>>& from, HostMemory& memory, bool) {
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
  Held(const List& from, HostMemory&, bool) : value(from.begin(), from.end()) {}
  c10::ArrayRef<E> get() { return value; }
  void finish() {}
};
template <class E>
struct Held<c10::OptionalArrayRef<E>> {
  std::optional<std::vector<E>> value;
  template <class List>
  Held(const List& from, HostMemory&, bool) {
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
  Held(c10::string_view from, HostMemory&, bool) : value(from) {}
  c10::string_view get() { return value; }
  void finish() {}
};

template <class Iterator>
struct HeldIterator {
  HostIterator value;
  HeldIterator(at::TensorIteratorBase& from, HostMemory& memory, bool promotes) : value(from, memory, promotes) {}
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
class HostCall : public QueuedTask {
 public:
  template <class... Args>
  HostCall(Fn fn, bool promotes, Args&&... args)
      : fn_(fn), memory_(device_access()), held_(make(memory_, promotes, std::index_sequence_for<Params...>{}, args...)) {}
  bool copies() const { return memory_.copies(); }
  /// On a stream's thread: below autograd, on as many threads as the caller of the operator has.
  void operator()() {
    const CpuKernelScope scope(threads_);
    run();
  }
  void run() {
    memory_.fetch();
    std::apply(
        [this](auto&... held) {
          fn_(held.get()...);
          (held.finish(), ...);
        },
        held_);
    memory_.write_back();
  }

 private:
  // In order, unlike the arguments of a constructor.
  template <size_t... I, class... Args>
  static std::tuple<Held<Params>...> make(
      HostMemory& memory, bool promotes, std::index_sequence<I...>, Args&... args) {
    return std::tuple<Held<Params>...>{Held<Params>(args, memory, promotes)...};
  }
  Fn fn_;
  int threads_ = at::get_num_threads();
  HostMemory memory_;
  std::tuple<Held<Params>...> held_;
};

/// Runs it at once on copies, or queues it on the current stream.
template <class Call>
void run_or_queue(std::unique_ptr<Call> call) {
  if (call->copies()) {
    run_on_host(HostAccess::kCopy, [&] { call->run(); });
  } else {
    queue(std::move(call));
  }
}

template <class Op, class Schema>
struct OpCall;
template <class Op, class R, class... Params>
struct OpCall<Op, R(Params...)> {
  template <class... Args>
  static void run(Args&&... args) {
    const auto fn = [](auto&&... given) { static_cast<void>(Op::call(std::forward<decltype(given)>(given)...)); };
    if constexpr (takes_tensors<Params...>) {
      static auto& taken = *new TakenDtypes();
      if (ran_awaited<Params...>(taken, fn, args...)) {
        return;
      }
    }
    run_or_queue(std::make_unique<HostCall<decltype(fn), Params...>>(fn, false, args...));
  }
};

}  // namespace detail

/// Runs the CPU's kernel of `Op` (at::_ops::...), an out= or in-place operator, on the device's memory, in stream order.
/// Its outputs must have their final sizes. Arguments as at::_ops::...::call takes them, int64_t for SymInt.
template <class Op, class... Args>
void host_op(Args&&... args) {
  detail::OpCall<Op, typename Op::schema>::run(std::forward<Args>(args)...);
}

/// The CPU's kernel of `Op`, as a call of `Op` on the device: outputs are resized, new results are on the current device.
/// Waits for the current stream. Errors: those of the CPU's kernel, thrown here.
template <class Op, class... Args>
decltype(auto) host_call(Args&&... args) {
  return at::native::call_fallback_fn<&run_cpu_kernel, Op>::call(std::forward<Args>(args)...);
}

/// host_call() as kernels know it that were written for earlier versions.
template <class Op, class... Args>
void host_op_checked(Args&&... args) {
  static_cast<void>(host_call<Op>(std::forward<Args>(args)...));
}

/// What a DispatchStub can be given for the device: run() has its type. `promotes`: see HostIterator.
template <auto& stub, bool promotes = false, class FnPtr = typename std::remove_reference_t<decltype(stub)>::FnPtr>
struct HostStub;
template <auto& stub, bool promotes, class... Params>
struct HostStub<stub, promotes, void (*)(Params...)> {
  static void run(Params... args) {
    static const bool there = stub.is_device_supported(at::kCPU);
    TORCH_CHECK_NOT_IMPLEMENTED(there, "PyTorch has no such function for the CPU");
    const auto fn = [](auto&&... given) { stub(at::kCPU, std::forward<decltype(given)>(given)...); };
    if constexpr (detail::tells_dtypes<Params...>) {
      static auto& taken = *new detail::TakenDtypes();
      detail::check_dtypes(taken, promotes, fn, args...);
    } else if constexpr (detail::takes_tensors<Params...>) {
      static auto& taken = *new detail::TakenDtypes();
      if (detail::ran_awaited<Params...>(taken, fn, args...)) {
        return;
      }
    }
    detail::run_or_queue(std::make_unique<detail::HostCall<decltype(fn), Params...>>(fn, promotes, args...));
  }
};

/// For index_put_with_sort_stub, which adds values up at repeated indices: the CPU does so without sorting.
void host_index_put(at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices, const at::Tensor& values,
    bool accumulate, bool unsafe);

}  // namespace openreg::native
