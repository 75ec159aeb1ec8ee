// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "distributed/CommStreams.h"
#include "distributed/Transport.h"
#include "distributed/Work.h"
#include "runtime/Export.h"
#include "runtime/PyTorchRelease.h"

// Note [The process group]
// A c10d::Backend, registered as "openregccl" by torch_openreg/_distributed.py. One object per group and process.
// Threads: any, but one call at a time, since all ranks must make their calls in the same order.
//
// Tensors may be used, freed and written by the caller as soon as the current stream has waited for the Work: their memory
// is marked as used by the group's stream.

namespace openreg::distributed {

class Plan;

/// What PyTorch keeps of a group beside its backend's name, and copies for its parts.
struct OPENREG_RUNTIME_API GroupOptions : c10d::Backend::Options {
  explicit GroupOptions(std::chrono::milliseconds timeout) : Options("openregccl", timeout) {}
  GroupOptions(const GroupOptions& other);
#if OPENREG_TORCH_HAS_CLONED_GROUP_OPTIONS
  c10::intrusive_ptr<Options> clone() const override { return c10::make_intrusive<GroupOptions>(*this); }
#endif
  ~GroupOptions() override = default;
};

class OPENREG_RUNTIME_API ProcessGroupOpenReg final : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  ProcessGroupOpenReg(std::unique_ptr<Transport> transport, TransportOptions options, c10::intrusive_ptr<GroupOptions> named);
  ~ProcessGroupOpenReg() override;

  const std::string getBackendName() const override { return "openregccl"; }
  c10::intrusive_ptr<c10d::Backend::Options> getBackendOptions() override { return named_; }
  void setTimeout(std::chrono::milliseconds timeout) override;
  void eagerConnectSingleDevice(at::Device device) override;
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override;
  c10d::ErrorType getError() override;
  void abort() override;
  void shutdown() override;
  bool supportsSplitting() const override { return transport_->splits(); }
  c10::intrusive_ptr<c10d::Backend> split(const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
      const c10::intrusive_ptr<Options>& options) override;

  bool supportsCoalescing() const override { return true; }
  void startCoalescing() override;
  WorkPtr endCoalescing() override;

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
#if OPENREG_TORCH_HAS_GATHER_SINGLE
  WorkPtr gather_single(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& options) override;
#endif
  WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions& options) override;
  WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ReduceScatterOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
      std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override;
  WorkPtr send(Tensors& tensors, int peer, int tag) override;
  WorkPtr recv(Tensors& tensors, int peer, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions& options) override;

  const std::shared_ptr<Journal>& journal() const { return options_.journal; }

 private:
  struct Call;
  struct Batch;

  WorkPtr run(Call call, std::function<void(Plan&)> prepare);
  WorkPtr queue(Batch& batch);
  void add(Batch& batch, Call call);
  WorkPtr receive(const char* title, c10d::OpType type, Tensors& tensors, int peer, int tag);
  WorkPtr allreduce_all(const char* title, c10d::OpType type, const Tensors& tensors, const c10d::AllreduceOptions& options);
  WorkPtr allgather_all(const char* title, c10d::OpType type, const Tensors& outputs, const Tensors& inputs,
      const c10d::AllgatherOptions& options);
  WorkPtr reduce_scatter_all(const char* title, c10d::OpType type, const Tensors& outputs, const Tensors& inputs,
      const c10d::ReduceScatterOptions& options);

  std::mutex mutex_;
  TransportOptions options_;
  const c10::intrusive_ptr<GroupOptions> named_;
  const std::unique_ptr<Transport> transport_;
  CommStreams streams_;
  uint64_t collectives_ = 0, messages_ = 0;
  std::optional<c10::DeviceIndex> used_device_;
  std::unique_ptr<Batch> batch_;  // between startCoalescing() and endCoalescing()
  const bool blocking_wait_;
};

/// The group of this process in `store`, of which each rank makes one. `gloo`: PyTorch's over the same ranks, connected.
OPENREG_RUNTIME_API c10::intrusive_ptr<ProcessGroupOpenReg> new_process_group(const c10::intrusive_ptr<c10d::Store>& store,
    int rank, int size, std::chrono::milliseconds timeout, c10::intrusive_ptr<c10d::Backend> gloo,
    const std::string& name, const std::vector<uint64_t>& global_ranks);

}  // namespace openreg::distributed
