// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include "host/Dtypes.h"
#include "host/Fallback.h"
#include "host/Held.h"
#include "host/Launch.h"
#include "host/Run.h"
#include "host/Work.h"

// Note [The CPU's kernels on the device]
// A backend's first kernels are PyTorch's own for the CPU, on the device's memory (Note [Host code on device memory]):
//   host_call<Op>(args...)     any operator; waits for it, takes home what it returns
//   host_op<Op>(args...)       an out= or in-place operator whose outputs have their final sizes; does not wait
//   HostStub<stub>::run(...)   the CPU's function of a DispatchStub; does not wait
// The last two are asynchronous where functions launched reach device memory; elsewhere all run at once, on copies.
//
// The arguments are held by value until the function runs; their tensors own no device memory (Note [Running a function on
// the device] says why that is enough). If an asynchronous function throws, a later call reports it: Note [Errors of the device]
// in runtime/Exception.h. What can be known before, the call itself throws: Dtypes.h. host_call throws to its caller.

namespace openreg::native {
namespace detail {

/// A function of the host and its arguments.
template <class Fn, class... Params>
class HostCall : public QueuedTask {
 public:
  template <class... Args>
  HostCall(Fn fn, const Effects& effects, Args&&... args)
      : fn_(fn), memory_(device_access()), held_(memory_, effects, args...) {}
  bool copies() const { return memory_.copies(); }
  /// On a stream's thread: below autograd, on as many threads as the caller of the operator has.
  void operator()() {
    const CpuKernelScope scope(threads_);
    run();
  }
  void run() {
    memory_.fetch();
    held_.call(fn_);
    memory_.write_back();
  }
  const HostMemory& memory() const { return memory_; }

 private:
  Fn fn_;
  int threads_ = at::get_num_threads();
  HostMemory memory_;
  HeldArguments<std::index_sequence_for<Params...>, Params...> held_;
};

/// Runs it at once on copies, or queues it on the current stream.
template <class Call>
void run_or_queue(std::unique_ptr<Call> call) {
  if (call->copies()) {
    HostWork work(HostAccess::kCopy, HostCode::kCpuKernel);
    run_on_host(HostAccess::kCopy, [&] { call->run(); });
    work.copied(call->memory().bytes_to_host(), call->memory().bytes_to_device());
  } else {
    queue(std::move(call));
  }
}

/// Whether `Op` is an out= form of a PyTorch operator: its outputs come last in its schema, and by keyword.
template <class Op>
constexpr bool is_out_form() {
  if constexpr (requires { Op::schema_str; }) {
    constexpr std::string_view schema = Op::schema_str;
    constexpr size_t keywords = schema.find("*, ");
    return keywords < schema.size() && schema.find("!)", keywords) < schema.find("->", keywords);
  }
  return false;
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
    constexpr Effects effects{.writes_inputs = false, .reads_outputs = !is_out_form<Op>()};
    run_or_queue(std::make_unique<HostCall<decltype(fn), Params...>>(fn, effects, args...));
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

/// What a DispatchStub can be given for the device: run() has its type. `promotes`: the function is elementwise, so that it
/// writes all of its outputs and reads none; see also HostIterator.
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
    constexpr Effects effects{.promotes = promotes, .reads_outputs = !promotes};
    detail::run_or_queue(std::make_unique<detail::HostCall<decltype(fn), Params...>>(fn, effects, args...));
  }
};

/// For index_put_with_sort_stub, which adds values up at repeated indices: the CPU does so without sorting.
void host_index_put(at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices, const at::Tensor& values,
    bool accumulate, bool unsafe);

}  // namespace openreg::native
