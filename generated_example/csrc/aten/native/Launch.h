// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <exception>
#include <memory>
#include <utility>

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include "runtime/Exception.h"
#include "runtime/Stream.h"

// Note [Running a function on the device]
// The example kernels are ordinary C++ functions over raw memory, and launch() runs them: on a device whose
// launched functions can dereference its memory (hostAccessible, as on the simulator) in the current stream,
// asynchronously; on any other device on the host, on copies of the operands. So the same kernels serve a
// device that can run nothing yet. A real kernel replaces the call to launch() with a launch of its own.
//
// Functions own no tensors: the last reference might die on the device's thread. They get raw pointers, and
// the memory stays theirs until they have run: what is freed is handed out again only to the stream that it was
// allocated on, where it is used after them. Whoever uses a tensor on another stream calls record_stream().
// What functions throw is told by a later call: Note [Errors of the device] in runtime/Exception.h.

namespace openreg::native {

/// Device memory that a function reads, or reads and writes.
struct Operand {
  void* data = nullptr;
  size_t bytes = 0;
  bool written = false;
};

using Pointers = c10::SmallVector<char*, 6>;

/// Whether functions given to orLaunchKernel reach the memory of the current device.
bool kernels_reach_memory();

/// Host copies of operands. Construction waits for the current stream and copies in; write_back() copies out.
class Staging {
 public:
  explicit Staging(c10::ArrayRef<Operand> operands);
  Pointers& pointers() { return pointers_; }
  void write_back();

 private:
  c10::SmallVector<Operand, 6> operands_;
  c10::SmallVector<std::unique_ptr<char[]>, 6> copies_;
  Pointers pointers_;
};

/// Queues fn(char** pointers) on the current stream of the current device; the pointers are those of
/// `operands`, or of their copies. Asynchronous where the device can run it. Errors: those of the device's
/// API.
template <class Fn>
void launch(c10::ArrayRef<Operand> operands, Fn fn) {
  if (!kernels_reach_memory()) {
    Staging staging(operands);
    fn(staging.pointers().data());
    staging.write_back();
    return;
  }
  struct Task {
    Fn fn;
    Pointers pointers;
  };
  auto task = std::make_unique<Task>(Task{std::move(fn), {}});
  for (const Operand& operand : operands) {
    task->pointers.push_back(static_cast<char*>(operand.data));
  }
  const auto run = [](void* argument) {
    const std::unique_ptr<Task> owned(static_cast<Task*>(argument));
    try {
      owned->fn(owned->pointers.data());
    } catch (const c10::Error& error) {
      report_kernel_error(error.what_without_backtrace());
    } catch (const std::exception& error) {
      report_device_error(error.what());
    } catch (...) {
      report_device_error("an exception of unknown type");
    }
  };
  OPENREG_CHECK(orLaunchKernel(getCurrentStream().stream(), run, task.get()));
  static_cast<void>(task.release());
}

}  // namespace openreg::native
