// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "distributed/ProcessGroup.h"

namespace openreg::distributed {

/// What one operation moves, as it is prepared on the group's stream. Memory must be without gaps: input() and output() give
/// tensors that are, and keep what they made until all is queued.
class Plan {
 public:
  std::vector<Transfer> transfers;

  at::Tensor input(const at::Tensor& tensor);
  /// What is written there gets to `tensor`, behind the transfers. `read`: it begins with the values of `tensor`.
  at::Tensor output(const at::Tensor& tensor, bool read = false);
  /// The same for tensors that lie one behind the other.
  at::Tensor input(const std::vector<at::Tensor>& tensors);
  at::Tensor output(const std::vector<at::Tensor>& tensors);

  /// A transfer of `in` to `out`, either of which may be undefined.
  Transfer& move(Move move, const at::Tensor& in, const at::Tensor& out);
  void reduce(Move move, const at::Tensor& in, const at::Tensor& out, Reduction reduction, int root = -1);

  /// Queues what is left to do behind the transfers.
  void copy_back();

 private:
  std::vector<at::Tensor> held_;
  std::vector<std::pair<std::vector<at::Tensor>, at::Tensor>> copies_;  // to, from
};

constexpr std::chrono::milliseconds kGroupTimeout = c10d::kUnsetTimeout;

/// One call of torch.distributed.
struct ProcessGroupOpenReg::Call {
  c10d::OpType type = c10d::OpType::UNKNOWN;
  const char* title = "";  // "openregccl:allreduce"
  Tensors inputs = {}, outputs = {};
  std::chrono::milliseconds timeout = kGroupTimeout;
  int stream = CommStreams::kCollectives;
  bool waits_on_host = false;
  std::function<void(Plan&)> prepare = {};  // on the group's stream
};

/// Calls that are queued as one.
struct ProcessGroupOpenReg::Batch {
  std::vector<Call> calls;
  std::vector<OpenRegStream> behind;  // what was current at the calls
  std::shared_ptr<Operation> operation;
  c10::intrusive_ptr<Work> work;
};

}  // namespace openreg::distributed
