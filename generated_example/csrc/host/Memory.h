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
// The first kernels of a backend are code for the host: PyTorch's CPU kernels, and plain C++ loops. The code reaches device memory
// through this folder, on copies; if launched functions reach device memory (hostAccessible), component host_alias copies nothing.
//   Tensors.h   HostTensors: the tensors of one call of an operator
//   Fallback.h  called by PyTorch for operators without a kernel; host_call<Op>()
//   Memory.h    HostMemory: copies of the bytes that a function over raw memory reads and writes
//   Launch.h    launch(): such a function
//   Work.h      HostWork: refuses, names or counts code that runs on copies
//   Iterator.h  CpuIterator: a TensorIterator of the device on the host's tensors
//   Kernel.h    host_op<Op>(), HostStub: PyTorch's own CPU functions

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

/// Copies of the device memory of one call. Use: construct it, run the code, write_back(). The current device must stay the
/// same. Used by one thread. Errors: those of the device's API.
class OPENREG_RUNTIME_API HostMemory {
 public:
  /// Copies in and waits for the current stream. Operands that overlap on the device do so on the host. Borrows them.
  explicit HostMemory(c10::ArrayRef<Operand> operands);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// Where the host finds the byte at `device`, which lies in an operand.
  char* at(const void* device) const;

  /// Queues copies back of the operands that are written.
  void write_back();

  uint64_t bytes_to_host() const { return to_host_; }
  uint64_t bytes_to_device() const { return to_device_; }

 private:
  /// One run of bytes that operands which overlap cover together. On the host it begins as far behind a multiple of kAlign
  /// as on the device, so elements are aligned alike.
  struct Span {
    char* begin = nullptr;
    size_t bytes = 0;
    bool read = false;
    char* host = nullptr;
    c10::DataPtr memory;
    size_t padding() const { return reinterpret_cast<uintptr_t>(begin) % kAlign; }
    bool is_pinned() const { return padding() + bytes <= kMostPinned; }
  };
  static constexpr size_t kAlign = 64;
  static constexpr size_t kMostPinned = size_t{64} << 20;  // what is pinned stays with the process

  const Span& span(const void* device) const;

  c10::ArrayRef<Operand> operands_;
  std::vector<Span> spans_;  // sorted, none overlaps another
  uint64_t to_host_ = 0;
  uint64_t to_device_ = 0;
};

}  // namespace openreg::native
