// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <utility>

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>

namespace openreg::native {

/// An iterator over host copies of the operands of `device`, which must outlive it.
class HostIterator {
 public:
  explicit HostIterator(at::TensorIteratorBase& device);
  at::TensorIterator& get() { return host_; }
  /// Copies the outputs to the device.
  void write_back();

 private:
  at::TensorIteratorBase& device_;
  at::TensorIterator host_;
};

/// Runs the CPU's function of a DispatchStub over host copies of `iter`'s operands. Errors: those of that
/// function.
template <class Stub, class... Args>
void stub_detour(Stub& stub, at::TensorIteratorBase& iter, Args&&... args) {
  HostIterator host(iter);
  stub(at::kCPU, host.get(), std::forward<Args>(args)...);
  host.write_back();
}

}  // namespace openreg::native
