// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>
#include <vector>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "distributed/Transport.h"
#include "runtime/Event.h"

// Note [Work]
// The result of a collective. It is done for the caller when its stream has passed its end, which an event
// marks: wait() makes the caller's current stream wait for it, and the host goes on. The host waits instead if the caller
// gives a time-out, waits for a barrier, or sets OPENREGCCL_BLOCKING_WAIT=1.
// The future is complete from the start, as futures of device tensors are: its value is ready on the stream, and callbacks
// run at once, on a stream that waits.

namespace openreg::distributed {

class Work final : public c10d::Work {
 public:
  /// `title`: as profilers show the call; a literal.
  Work(c10d::OpType type, const char* title, const std::vector<at::Tensor>& inputs, std::shared_ptr<Operation> operation,
      bool waits_on_host);

  /// All that belongs to it was queued on `stream`, which is current.
  void end_here(const OpenRegStream& stream, std::vector<at::Tensor> outputs);

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  int sourceRank() const override;
  std::vector<at::Tensor> result() override;
  void synchronize() override;
  bool wait(std::chrono::milliseconds timeout) override;
  void blockCurrentStream() override { synchronize(); }
  void abort() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  uint64_t getSequencenumber() const override;

 private:
  void wait_on_host(std::chrono::milliseconds timeout);
  void check() const;

  const std::shared_ptr<Operation> operation_;
  std::vector<at::Tensor> outputs_;
  const bool waits_on_host_;
  OpenRegEvent end_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace openreg::distributed
