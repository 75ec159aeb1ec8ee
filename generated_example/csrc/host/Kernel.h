// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include "host/Call.h"
#include "host/Fallback.h"
#include "host/Launch.h"
#include "host/alias/QueuedCall.h"
#include "host/Work.h"

// Note [The CPU's kernels on the device]
// A backend's first kernels are PyTorch's own for the CPU, on the device's memory (Note [Host code on device memory]):
//   host_call<Op>(args...)     any operator; waits for it, moves its results to the device (Fallback.h)
//   host_op<Op>(args...)       an out= or in-place operator whose outputs have their final sizes
//   HostStub<stub>::run(...)   the CPU's function of a DispatchStub
// They run at once, on copies, and the call throws the function's exceptions.
// With component host_alias, if launched functions reach device memory, the last two don't wait.

namespace openreg::native {
namespace detail {

/// Calls a function of the CPU.
template <class... Params, class Fn, class... Args>
void call_cpu_function(const Fn& fn, const Effects& effects, Args&... args) {
  HostWork work(HostCode::kCpuKernel);
  HostTensors host;
  call_on_host<Params...>(host, fn, effects, args...);
  work.copied(host.bytes_to_host(), host.bytes_to_device());
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
    constexpr Effects effects{.writes_inputs = false, .reads_outputs = !is_out_form<Op>()};
    if (kernels_reach_memory()) {
      queue_call<Params...>(fn, effects, args...);
      return;
    }
    call_cpu_function<Params...>(fn, effects, args...);
  }
};

}  // namespace detail

/// Runs the CPU's kernel of `Op` (at::_ops::...), an out= or in-place operator, on the device's memory, in stream order.
/// Its outputs must have their final sizes. Arguments as at::_ops::...::call takes them, int64_t for SymInt.
template <class Op, class... Args>
void host_op(Args&&... args) {
  detail::OpCall<Op, typename Op::schema>::run(std::forward<Args>(args)...);
}

/// What a DispatchStub can be given for the device: run() has its type. `promotes`: the function is elementwise, so that it
/// writes all of its outputs and reads none; see also CpuIterator.
template <auto& stub, bool promotes = false, class FnPtr = typename std::remove_reference_t<decltype(stub)>::FnPtr>
struct HostStub;
template <auto& stub, bool promotes, class... Params>
struct HostStub<stub, promotes, void (*)(Params...)> {
  static void run(Params... args) {
    static const bool there = stub.is_device_supported(at::kCPU);
    TORCH_CHECK_NOT_IMPLEMENTED(there, "PyTorch has no such function for the CPU");
    const auto fn = [](auto&&... given) { stub(at::kCPU, std::forward<decltype(given)>(given)...); };
    constexpr Effects effects{.promotes = promotes, .reads_outputs = !promotes};
    if (kernels_reach_memory()) {
      detail::queue_stub<Params...>(fn, effects, args...);
      return;
    }
    detail::call_cpu_function<Params...>(fn, effects, args...);
  }
};

/// For index_put_with_sort_stub, which adds values up at repeated indices: the CPU does so without sorting.
void host_index_put(at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices, const at::Tensor& values,
    bool accumulate, bool unsafe);

}  // namespace openreg::native
