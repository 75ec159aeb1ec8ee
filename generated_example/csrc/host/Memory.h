// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/DimVector.h>
#include <c10/core/Allocator.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include "runtime/Export.h"

// Note [Host code on device memory]
// Much of a backend begins as code for the host: operators that fall back to PyTorch's CPU kernels, functions of the CPU
// behind a DispatchStub, kernels that are plain C++ loops. All of it reaches device memory in one way, this folder's, with
// one of two accesses:
//   alias  the code runs in the current stream, on that stream's thread, on the device's own bytes; nothing is copied. For
//          devices whose launched functions reach device memory (hostAccessible): the simulator, and cards that share
//          memory with the host.
//   copy   the bytes that the operands span are copied to the host by the current stream, which the caller waits for; the
//          code runs on the calling thread, and what it wrote is copied back by the current stream, without waiting. For
//          any device that can allocate and copy. No other stream is waited for.
// Either way the code sees the same tensors: sizes, strides, what shares memory with what, pending conjugation and
// negation; an operand that is given twice is one tensor. So an operator does the same with both.
//   Memory.h    HostMemory: the bytes of one call as the host's, for both accesses
//   Tensors.h   HostTensors: its tensors, and the way home of what the code returns or resized
//   Run.h       where the code runs: run_on_host() waits, queue_on_worker() does not
//   Work.h      HostWork: what runs on copies is refused, named or counted
//   Launch.h    launch(): a function over raw pointers, asynchronous
//   Held.h      Held, Awaited: the arguments of a call that runs later, or elsewhere
//   Kernel.h    host_call<Op>(), host_op<Op>(), HostStub: PyTorch's own CPU kernels
//   Fallback.h  what PyTorch calls for operators without a kernel

namespace openreg {

enum class HostAccess {
  kCopy,
  kAlias,
};

namespace native {

/// Whether functions given to orLaunchKernel reach the memory of the current device.
OPENREG_RUNTIME_API bool kernels_reach_memory();

/// Whether any thread of the host does, at any time: memory that host and device share.
OPENREG_RUNTIME_API bool host_reaches_memory();

/// The access that the current device has.
inline HostAccess device_access() { return kernels_reach_memory() ? HostAccess::kAlias : HostAccess::kCopy; }

/// Where the elements of an operand lie from its first byte on; strides are bytes, and not negative. Any order.
struct Layout {
  at::DimVector sizes, strides;
  size_t itemsize = 1;
};

/// Device memory that a function reads, writes or both. Of what is written, only the elements of `layout` go back
/// where the function ran on copies; without one, all bytes. Borrows `layout` for the call. With `read` false the function
/// writes each of those elements, and finds anything there before.
struct Operand {
  void* data = nullptr;
  size_t bytes = 0;
  bool written = false;
  const Layout* layout = nullptr;
  bool read = true;
};

/// The device memory of one call as host code finds it. Use: add() all operands, fetch(), run the code, write_back().
/// With HostAccess::kAlias all of these do nothing, and at() returns what it is given. The current device must stay the
/// same. Used by one thread. Errors: those of the device's API.
class OPENREG_RUNTIME_API HostMemory {
 public:
  explicit HostMemory(HostAccess access) : copies_(access == HostAccess::kCopy ? std::make_unique<Copies>() : nullptr) {}
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  bool copies() const { return copies_ != nullptr; }

  void add(const Operand& operand) {
    if (copies()) {
      add_copied(operand);
    }
  }

  /// Copies in and waits for the current stream. Operands that overlap on the device do so on the host.
  void fetch() {
    if (copies()) {
      copy_in();
    }
  }

  /// Where the host finds the byte at `device`, which lies in an operand or is null.
  template <class T>
  T* at(T* device) const {
    return copies() ? static_cast<T*>(copied(device)) : device;
  }

  /// Queues copies back of the operands that were added as written.
  void write_back() {
    if (copies()) {
      copy_out();
    }
  }

  /// Queues a copy of one operand back. Its elements may lie otherwise than when it was added, but within the same bytes.
  void store(const Operand& operand);

  /// One run of bytes that operands which overlap cover together. On the host it begins as far behind a multiple of kAlign
  /// as on the device, so elements are aligned alike.
  struct Span {
    char* begin = nullptr;
    size_t bytes = 0;
    bool read = false;
    char* host = nullptr;
    c10::DataPtr memory;
    size_t padding() const { return reinterpret_cast<uintptr_t>(begin) % kAlign; }
  };
  static constexpr size_t kAlign = 64;

  /// The span that holds `device`, with HostAccess::kCopy, after fetch(); null if none does.
  const Span* span(const void* device) const;

  uint64_t bytes_to_host() const { return copies() ? copies_->to_host : 0; }
  uint64_t bytes_to_device() const { return copies() ? copies_->to_device : 0; }

 private:
  struct Written {
    Operand operand;
    Layout layout;
  };
  struct Copies {
    std::vector<Span> spans;  // after fetch(): sorted, none overlaps another
    std::vector<Written> written;
    uint64_t to_host = 0;
    uint64_t to_device = 0;
  };
  void add_copied(const Operand& operand);
  void copy_in();
  void copy_out();
  void* copied(const void* device) const;

  std::unique_ptr<Copies> copies_;  // null: kAlias. Small, as it is a part of what one thread makes and another one destroys
};

}  // namespace native
}  // namespace openreg
