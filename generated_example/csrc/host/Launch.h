// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <utility>

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include "host/alias/Queue.h"
#include "host/Memory.h"
#include "host/Work.h"

// Note [Running a function on the device]
// The example kernels are ordinary C++ functions over raw memory, and launch() runs them: at once, on copies of the operands
// (Note [Host code on device memory]). So they work on a device that can't run anything yet. A real kernel replaces the call to
// launch() with its own launch.
//
// Functions own no tensors: they get raw pointers. A kernel on a stream could hold the last reference to a tensor, and the memory
// stays valid until it has run: freed memory is handed out again only to the stream that it was
// allocated on, where it is used after the kernel. If you use a tensor on another stream, call record_stream().

namespace openreg::native {

using Pointers = c10::SmallVector<char*, 6>;

/// Runs fn(char** pointers) for the current stream of the current device; the pointers are those of copies of `operands`.
/// With component host_alias, on a device whose launched functions reach its memory, it is queued, with the pointers of `operands`
/// themselves.
/// Errors: those of the device's API, and what `fn` throws.
template <class Fn>
void launch(c10::ArrayRef<Operand> operands, Fn fn) {
  if (kernels_reach_memory()) {
    queue_launch(operands, std::move(fn));
    return;
  }
  HostWork work(HostCode::kFunction);
  HostMemory memory(operands);
  Pointers pointers;
  for (const Operand& operand : operands) {
    pointers.push_back(operand.bytes == 0 ? nullptr : memory.at(operand.data));
  }
  fn(pointers.data());
  memory.write_back();
  work.copied(memory.bytes_to_host(), memory.bytes_to_device());
}

}  // namespace openreg::native
