// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/DimVector.h>
#include <c10/core/Allocator.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include "runtime/Export.h"

// Note [Host code on device memory]
// Much of a backend begins as code for the host: operators that fall back to PyTorch's CPU kernels, functions of the CPU
// behind a DispatchStub, kernels that are plain C++ loops. All of it reaches device memory through this folder: the current stream
// copies the bytes of the operands to the host, and the caller waits for that; the code runs on the calling
// thread, and the current stream copies written bytes back, without waiting. No other stream is involved. Any device that
// can allocate and copy supports that.
// If launched functions reach device memory (hostAccessible), component host_alias copies nothing.
// The code sees the real tensors: sizes, strides, shared memory, pending conjugation and negation; an
// operand that is passed twice is one tensor.
//   Memory.h    HostMemory: copies of the bytes of one call
//   Tensors.h   HostTensors: its tensors; moves returned and resized ones back
//   Run.h       the state of a thread in which CPU kernels may run
//   Work.h      HostWork: refuses, names or counts code that runs on copies
//   Launch.h    launch(): a function over raw pointers
//   Iterator.h  CpuIterator: a TensorIterator of the device on the host's tensors
//   Kernel.h    host_call<Op>(), host_op<Op>(), HostStub: PyTorch's own CPU kernels
//   Fallback.h  called by PyTorch for operators without a kernel

namespace openreg::native {

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

/// Copies of the device memory of one call. Use: add() all operands, fetch(), run the code, write_back(). The current device
/// must stay the same. Used by one thread. Errors: those of the device's API.
class OPENREG_RUNTIME_API HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  void add(const Operand& operand);

  /// Copies in and waits for the current stream. Operands that overlap on the device do so on the host.
  void fetch();

  /// Where the host finds the byte at `device`, which lies in an operand or is null.
  template <class T>
  T* at(T* device) const {
    return static_cast<T*>(copied(device));
  }

  /// Queues copies back of the operands that were added as written.
  void write_back();

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

  /// The span that holds `device`, after fetch(); null if none does.
  const Span* span(const void* device) const;

  uint64_t bytes_to_host() const { return to_host_; }
  uint64_t bytes_to_device() const { return to_device_; }

 private:
  struct WriteBack {
    Operand operand;
    Layout layout;
  };
  void* copied(const void* device) const;

  std::vector<Span> spans_;  // after fetch(): sorted, none overlaps another
  std::vector<WriteBack> written_;
  uint64_t to_host_ = 0;
  uint64_t to_device_ = 0;
};

}  // namespace openreg::native
