// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <chrono>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "distributed/Transport.h"

namespace openreg::distributed {

/// One transfer as Gloo makes it, between two buffers of the host: pinned memory, or the device's own where any thread of the
/// host reaches it. Gloo reduces fewer dtypes than PyTorch has; the others are converted to one that holds their values, and
/// back. Threads: one at a time.
class GlooCall {
 public:
  /// `reaches`: the host reaches device memory.
  GlooCall(Transfer transfer, int rank, int size, bool reaches);

  const Transfer& transfer() const { return transfer_; }
  /// Whether in() is to be filled before the start, and out() is to be copied after finish().
  bool copies_in() const { return in_.defined() && in_.const_data_ptr() != transfer_.in && transfer_.in_bytes != 0; }
  bool copies_out() const { return writes_ && out_.const_data_ptr() != transfer_.out; }
  /// The storages of device memory that Gloo works on; null for one that is gone.
  std::vector<c10::intrusive_ptr<c10::StorageImpl>> used_storages() const;
  void* in() const { return in_.mutable_data_ptr(); }
  void* out() const { return out_.mutable_data_ptr(); }

  /// Queues it at Gloo, which works on threads of its own.
  c10::intrusive_ptr<c10d::Work> start(c10d::Backend& gloo, std::chrono::milliseconds timeout);
  /// After it was waited for: the result is in out().
  void finish();

 private:
  at::Tensor part(const at::Tensor& buffer, int64_t index) const;
  std::vector<at::Tensor> parts(const at::Tensor& buffer) const;
  at::Tensor to_reduce(const at::Tensor& bytes) const;

  Transfer transfer_;
  int rank_, size_;
  bool writes_ = false;
  at::Tensor in_, out_;  // bytes; the same tensor where it works in place
  at::Tensor reduced_;  // what Gloo reduces, as a dtype that it knows
};

/// Throws where no rank could reduce this dtype so. `name`: of the collective.
void check_reduced_by_gloo(const char* name, at::ScalarType dtype, Reduction reduction);

}  // namespace openreg::distributed
