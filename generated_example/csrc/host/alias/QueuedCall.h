// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "host/Call.h"
#include "host/alias/Alias.h"
#include "host/alias/Dtypes.h"
#include "host/alias/QueuedArgument.h"
#include "host/alias/Queue.h"
#include "runtime/Capturing.h"

// Note [Calls that wait in a stream]
// Where launched functions reach device memory, a function of the CPU is queued with its arguments, which are held by value until
// it runs; their tensors own no device memory (Note [Functions in a stream's order] in Queue.h says why that is enough). If it
// throws, a later call reports it: Note [Errors of the device] in runtime/Exception.h. Errors that are known in advance are
// thrown by the call itself: Dtypes.h.

namespace openreg::native::detail {

/// A function of the CPU and its arguments. On a stream's thread it runs below autograd, on as many threads as the caller has.
template <class Fn, class... Params>
class QueuedCall : public QueuedTask {
 public:
  template <class... Args>
  QueuedCall(Fn fn, const Effects& effects, Args&... args) : fn_(fn), held_(effects, args...) {}
  void operator()() {
    const CpuKernelScope scope(threads_);
    held_.call(fn_);
  }

 private:
  Fn fn_;
  int threads_ = at::get_num_threads();
  HeldArguments<std::index_sequence_for<Params...>, Params...> held_;
};

/// True if the call was served: see Note [Dtypes that a function of the CPU takes].
template <class... Params, class Fn, class... Args>
bool ran_awaited(AcceptedCalls& taken, const Fn& fn, const Effects& effects, Args&... args) {
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
  HostAliases host;
  call_on_host<Params...>(host, fn, effects, args...);
  if (!known && all_fit) {
    taken.add(kind);
  }
  return true;
}

/// Calls an operator's kernel on the CPU, which takes all of its tensors: on the current stream, which must reach their memory.
template <class... Params, class Fn, class... Args>
void queue_call(const Fn& fn, const Effects& effects, Args&... args) {
  if constexpr (takes_tensors<Params...>) {
    static auto& taken = *new AcceptedCalls();
    if (ran_awaited<Params...>(taken, fn, effects, args...)) {
      return;
    }
  }
  queue(std::make_unique<QueuedCall<Fn, Params...>>(fn, effects, args...));
}

/// The same for a function behind a DispatchStub, which is asked for the dtypes that it takes.
template <class... Params, class Fn, class... Args>
void queue_stub(const Fn& fn, const Effects& effects, Args&... args) {
  if constexpr (tells_dtypes<Params...>) {
    static auto& taken = *new AcceptedCalls();
    check_dtypes(taken, effects.promotes, fn, args...);
    queue(std::make_unique<QueuedCall<Fn, Params...>>(fn, effects, args...));
  } else {
    queue_call<Params...>(fn, effects, args...);
  }
}

}  // namespace openreg::native::detail
