// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <exception>
#include <memory>
#include <utility>

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include "graphs/Capture.h"
#include "host/Memory.h"
#include "host/alias/Alias.h"
#include "host/alias/PooledObject.h"
#include "profiler/KinetoProfiler.h"
#include "runtime/DeviceErrors.h"
#include "runtime/Exception.h"
#include "runtime/Stream.h"

// Note [Functions in a stream's order]
// Functions own no tensors: the last reference might die on the device's thread. They get raw pointers, and
// the memory stays valid until they have run: freed memory is handed out again only to the stream that it was
// allocated on, where it is used after them. If you use a tensor on another stream, call record_stream().
// Of a stream that is captured into a graph, functions run again with each replay, and the graph owns them.
// What functions throw is reported by a later launch or synchronization: Note [Errors of the device] in runtime/Exception.h.

namespace openreg::native {

/// Base of the tasks of queue(). It moves from one processor to another, so it should be small.
struct QueuedTask : PooledObject {
  c10::DeviceIndex device = -1;
};

/// Runs a task on a stream's thread; a later call reports what it throws.
template <class Task>
void run_task(Task& task) noexcept {
  try {
    task();
  } catch (const c10::Error& error) {
    report_kernel_error(task.device, error.what_without_backtrace());
  } catch (const std::exception& error) {
    report_kernel_error(task.device, error.what());
  } catch (...) {
    report_device_error(task.device, "an exception of unknown type");
  }
}

/// Queues (*task)() on the current stream of the current device, which must reach its memory.
/// A graph calls it again, so it must leave what it holds as it is.
/// `name`: in traces; without one they have the operator's.
template <class Task>
void queue(std::unique_ptr<Task> task, [[maybe_unused]] const char* name = nullptr) {
  const OpenRegStream stream = getCurrentStream();
  task->device = stream.device_index();
  if (C10_UNLIKELY(capture_of(stream.stream()) != 0)) {
    name_captured_kernel(name);
    const auto release = [](void* argument) { delete static_cast<Task*>(argument); };
    const auto replay = [](void* argument) { run_task(*static_cast<Task*>(argument)); };
    OPENREG_CHECK(orStreamCaptureRetain(stream.stream(), task.get(), release));
    Task* const kept = task.release();  // the graph's from here on, whether or not the launch fails
    OPENREG_CHECK_LAUNCH(orLaunchKernel(stream.stream(), replay, kept));
    return;
  }
  if (name != nullptr) {
    name_next_kernel(name);
  }
  const auto run = [](void* argument) {
    const std::unique_ptr<Task> owned(static_cast<Task*>(argument));
    run_task(*owned);
  };
  OPENREG_CHECK_LAUNCH(orLaunchKernel(stream.stream(), run, task.get()));
  static_cast<void>(task.release());
}

/// Queues fn(char** pointers) on the current stream, which must reach its memory; the pointers are those of `operands`.
template <class Fn>
void queue_launch(c10::ArrayRef<Operand> operands, Fn fn) {
  struct Task : QueuedTask {
    Task(Fn function, c10::ArrayRef<Operand> of) : fn(std::move(function)) {
      for (const Operand& operand : of) {
        pointers.push_back(static_cast<char*>(operand.data));
      }
    }
    void operator()() { fn(pointers.data()); }
    Fn fn;
    c10::SmallVector<char*, 6> pointers;
  };
  queue(std::make_unique<Task>(std::move(fn), operands));
}

}  // namespace openreg::native
