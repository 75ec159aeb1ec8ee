// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>
#include <utility>

#include <c10/util/Exception.h>

#include "distributed/Call.h"

namespace openreg::distributed {
namespace {

using Tensors = std::vector<at::Tensor>;

Reduction reduction_of(const Transport& transport, const char* title, const c10d::ReduceOp& op, const Tensors& tensors) {
  TORCH_CHECK_NOT_IMPLEMENTED(op.op_ < c10d::ReduceOp::PREMUL_SUM, title, " does not support ReduceOp.PREMUL_SUM: multiply first");
  const auto reduction = static_cast<Reduction>(op.op_);
  for (const at::Tensor& tensor : tensors) {
    transport.check_reduction(title, tensor.scalar_type(), reduction);
  }
  return reduction;
}

const at::Tensor& only(const char* title, const Tensors& tensors) {
  TORCH_CHECK(tensors.size() == 1, title, " takes one tensor of each rank, not ", tensors.size());
  return tensors.front();
}

const Tensors& only(const char* title, const std::vector<Tensors>& lists) {
  TORCH_CHECK(lists.size() == 1, title, " takes one list of tensors of each rank, not ", lists.size());
  return lists.front();
}

void check_root(const char* title, int64_t root, int size) {
  TORCH_CHECK(root >= 0 && root < size, title, ": no rank ", root, " in a group of ", size);
}

void check_dtypes(const char* title, const Tensors& tensors, at::ScalarType dtype) {
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK_TYPE(tensor.scalar_type() == dtype, title, " takes tensors of one dtype, not ", dtype, " and ", tensor.scalar_type());
  }
}

/// Whether all of `parts`, one for each rank, have the size of `whole`.
bool even(const char* title, const Tensors& parts, const at::Tensor& whole, int size) {
  TORCH_CHECK(std::cmp_equal(parts.size(), size), title, " takes ", size, " tensors, one for each rank, not ", parts.size());
  check_dtypes(title, parts, whole.scalar_type());
  return std::all_of(parts.begin(), parts.end(), [&](const at::Tensor& part) { return part.numel() == whole.numel(); });
}

void check_even(const char* title, const Tensors& parts, const at::Tensor& whole, int size) {
  TORCH_CHECK(even(title, parts, whole, size), title, " takes tensors of one size");
}

std::vector<int64_t> bytes_of(const char* title, const std::vector<int64_t>& splits, const at::Tensor& tensor, int size) {
  std::vector<int64_t> bytes;
  if (splits.empty()) {
    TORCH_CHECK(tensor.dim() == 0 || tensor.size(0) % size == 0, title, ": the first dimension of ", tensor.sizes(), " is not a multiple of ", size);
    bytes.assign(static_cast<size_t>(size), static_cast<int64_t>(tensor.nbytes()) / size);
    return bytes;
  }
  TORCH_CHECK(std::cmp_equal(splits.size(), size), title, " takes ", size, " sizes of parts, not ", splits.size());
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  int64_t sum = 0;
  for (const int64_t split : splits) {
    TORCH_CHECK(split >= 0, title, ": a part of ", split);
    sum += split;
    bytes.push_back(rows == 0 ? 0 : split * (static_cast<int64_t>(tensor.nbytes()) / rows));
  }
  TORCH_CHECK(sum == rows, title, ": parts of ", splits, " of a tensor whose first dimension is ", rows);
  return bytes;
}

}  // namespace

#define TITLE(name) "openregccl:" name

using Group = ProcessGroupOpenReg;

Group::WorkPtr Group::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  constexpr const char* title = TITLE("broadcast");
  const at::Tensor& tensor = only(title, tensors);
  check_root(title, options.rootRank, size_);
  return run({c10d::OpType::BROADCAST, title, tensors, tensors, options.timeout}, [tensor, root = options.rootRank](Plan& plan) {
    const at::Tensor dense = plan.output(tensor, /*read=*/true);
    plan.move(Move::kBroadcast, dense, dense).peer = static_cast<int>(root);
  });
}

Group::WorkPtr Group::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  only(TITLE("all_reduce"), tensors);
  return allreduce_all(TITLE("all_reduce"), c10d::OpType::ALLREDUCE, tensors, options);
}

Group::WorkPtr Group::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) {
  return allreduce_all(TITLE("all_reduce_coalesced"), c10d::OpType::ALLREDUCE_COALESCED, tensors, options);
}

Group::WorkPtr Group::allreduce_all(
    const char* title, c10d::OpType type, const Tensors& tensors, const c10d::AllreduceOptions& options) {
  const Reduction reduction = reduction_of(*transport_, title, options.reduceOp, tensors);
  return run({type, title, tensors, tensors, options.timeout}, [tensors, reduction](Plan& plan) {
    for (const at::Tensor& tensor : tensors) {
      const at::Tensor dense = plan.output(tensor, /*read=*/true);
      plan.reduce(Move::kAllreduce, dense, dense, reduction);
    }
  });
}

Group::WorkPtr Group::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  constexpr const char* title = TITLE("reduce");
  const at::Tensor& tensor = only(title, tensors);
  check_root(title, options.rootRank, size_);
  const Reduction reduction = reduction_of(*transport_, title, options.reduceOp, tensors);
  return run({c10d::OpType::REDUCE, title, tensors, tensors, options.timeout}, [tensor, reduction, root = options.rootRank](Plan& plan) {
    const at::Tensor dense = plan.output(tensor, /*read=*/true);
    plan.reduce(Move::kReduce, dense, dense, reduction, static_cast<int>(root));
  });
}

Group::WorkPtr Group::allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  constexpr const char* title = TITLE("all_gather");
  const at::Tensor& input = only(title, inputs);
  const Tensors& parts = only(title, outputs);
  const bool same = even(title, parts, input, size_);
  return run({c10d::OpType::ALLGATHER, title, inputs, parts, options.timeout}, [input, parts, same, rank = rank_](Plan& plan) {
    if (same) {
      plan.move(Move::kAllgather, plan.input(input), plan.output(parts));
      return;
    }
    for (size_t i = 0; i < parts.size(); ++i) {  // sizes differ: each rank's in turn
      const bool mine = std::cmp_equal(i, rank);
      if (mine) {
        parts[i].copy_(input.view(parts[i].sizes()));
      }
      const at::Tensor dense = plan.output(parts[i], mine);
      plan.move(Move::kBroadcast, dense, dense).peer = static_cast<int>(i);
    }
  });
}

Group::WorkPtr Group::_allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) {
  return allgather_all(TITLE("_all_gather_base"), c10d::OpType::_ALLGATHER_BASE, {output}, {input}, options);
}

Group::WorkPtr Group::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  return allgather_all(TITLE("all_gather_into_tensor_coalesced"), c10d::OpType::COALESCED, outputs, inputs, options);
}

Group::WorkPtr Group::allgather_all(const char* title, c10d::OpType type, const Tensors& outputs, const Tensors& inputs,
    const c10d::AllgatherOptions& options) {
  TORCH_CHECK(outputs.size() == inputs.size(), title, " takes as many outputs as inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_dtypes(title, {outputs[i]}, inputs[i].scalar_type());
    TORCH_CHECK(outputs[i].numel() == inputs[i].numel() * size_, title, ": the output must have ", size_, " times the ",
        inputs[i].numel(), " elements of the input, not ", outputs[i].numel());
  }
  return run({type, title, inputs, outputs, options.timeout}, [outputs, inputs](Plan& plan) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      plan.move(Move::kAllgather, plan.input(inputs[i]), plan.output(outputs[i]));
    }
  });
}

Group::WorkPtr Group::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  constexpr const char* title = TITLE("all_gather_coalesced");
  // outputs[i] has what rank i gave, in the order of the inputs.
  TORCH_CHECK(std::cmp_equal(outputs.size(), size_), title, " takes ", size_, " lists of outputs, not ", outputs.size());
  Tensors all;
  std::vector<Tensors> of_input(inputs.size());
  for (const Tensors& list : outputs) {
    TORCH_CHECK(list.size() == inputs.size(), title, " takes as many outputs of each rank as inputs");
    for (size_t i = 0; i < inputs.size(); ++i) {
      of_input[i].push_back(list[i]);
      all.push_back(list[i]);
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_even(title, of_input[i], inputs[i], size_);
  }
  return run({c10d::OpType::ALLGATHER_COALESCED, title, inputs, all, options.timeout}, [of_input, inputs](Plan& plan) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      plan.move(Move::kAllgather, plan.input(inputs[i]), plan.output(of_input[i]));
    }
  });
}

Group::WorkPtr Group::gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) {
  constexpr const char* title = TITLE("gather");
  const at::Tensor& input = only(title, inputs);
  check_root(title, options.rootRank, size_);
  const bool root = options.rootRank == rank_;
  TORCH_CHECK(root || outputs.empty() || outputs.front().empty(), title, ": only rank ", options.rootRank, " has outputs");
  const Tensors parts = root ? only(title, outputs) : Tensors{};
  if (root) {
    check_even(title, parts, input, size_);
  }
  return run({c10d::OpType::GATHER, title, inputs, parts, options.timeout}, [input, parts, root, peer = options.rootRank](Plan& plan) {
    const at::Tensor in = plan.input(input);
    plan.move(Move::kGather, in, root ? plan.output(parts) : at::Tensor()).peer = static_cast<int>(peer);
  });
}

#if OPENREG_TORCH_HAS_GATHER_SINGLE
Group::WorkPtr Group::gather_single(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& options) {
  constexpr const char* title = TITLE("gather_single");
  check_root(title, options.rootRank, size_);
  const bool root = options.rootRank == rank_;
  if (root) {
    check_dtypes(title, {output}, input.scalar_type());
    TORCH_CHECK(output.numel() == input.numel() * size_, title, ": an output of ", output.numel(), " elements, for ", size_,
        " times ", input.numel());
  }
  return run({c10d::OpType::GATHER, title, {input}, root ? Tensors{output} : Tensors{}, options.timeout},
      [input, output, root, peer = options.rootRank](Plan& plan) {
        const at::Tensor in = plan.input(input);
        plan.move(Move::kGather, in, root ? plan.output(output) : at::Tensor()).peer = static_cast<int>(peer);
      });
}
#endif

Group::WorkPtr Group::scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions& options) {
  constexpr const char* title = TITLE("scatter");
  const at::Tensor& output = only(title, outputs);
  check_root(title, options.rootRank, size_);
  const bool root = options.rootRank == rank_;
  TORCH_CHECK(root || inputs.empty() || inputs.front().empty(), title, ": only rank ", options.rootRank, " has inputs");
  const Tensors parts = root ? only(title, inputs) : Tensors{};
  if (root) {
    check_even(title, parts, output, size_);
  }
  return run({c10d::OpType::SCATTER, title, parts, outputs, options.timeout}, [output, parts, root, peer = options.rootRank](Plan& plan) {
    const at::Tensor in = root ? plan.input(parts) : at::Tensor();
    plan.move(Move::kScatter, in, plan.output(output)).peer = static_cast<int>(peer);
  });
}

Group::WorkPtr Group::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ReduceScatterOptions& options) {
  constexpr const char* title = TITLE("reduce_scatter");
  const at::Tensor& output = only(title, outputs);
  const Tensors& parts = only(title, inputs);
  const Reduction reduction = reduction_of(*transport_, title, options.reduceOp, outputs);
  const bool same = even(title, parts, output, size_);
  return run({c10d::OpType::REDUCE_SCATTER, title, parts, outputs, options.timeout}, [output, parts, reduction, same, rank = rank_](Plan& plan) {
    if (same) {
      plan.reduce(Move::kReduceScatter, plan.input(parts), plan.output(output), reduction);
      return;
    }
    for (size_t i = 0; i < parts.size(); ++i) {  // sizes differ: each rank's in turn
      const bool mine = std::cmp_equal(i, rank);
      if (mine) {
        output.copy_(parts[i].reshape(output.sizes()));
      }
      const at::Tensor dense = mine ? plan.output(output, /*read=*/true) : plan.input(parts[i]);
      plan.reduce(Move::kReduce, dense, dense, reduction, static_cast<int>(i));
    }
  });
}

Group::WorkPtr Group::_reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) {
  return reduce_scatter_all(TITLE("_reduce_scatter_base"), c10d::OpType::_REDUCE_SCATTER_BASE, {output}, {input}, options);
}

Group::WorkPtr Group::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) {
  return reduce_scatter_all(
      TITLE("reduce_scatter_tensor_coalesced"), c10d::OpType::REDUCE_SCATTER_TENSOR_COALESCED, outputs, inputs, options);
}

Group::WorkPtr Group::reduce_scatter_all(const char* title, c10d::OpType type, const Tensors& outputs, const Tensors& inputs,
    const c10d::ReduceScatterOptions& options) {
  TORCH_CHECK(outputs.size() == inputs.size(), title, " takes as many outputs as inputs");
  const Reduction reduction = reduction_of(*transport_, title, options.reduceOp, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_dtypes(title, {outputs[i]}, inputs[i].scalar_type());
    TORCH_CHECK(inputs[i].numel() == outputs[i].numel() * size_, title, ": the input must have ", size_, " times the ",
        outputs[i].numel(), " elements of the output, not ", inputs[i].numel());
  }
  return run({type, title, inputs, outputs, options.timeout}, [outputs, inputs, reduction](Plan& plan) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      plan.reduce(Move::kReduceScatter, plan.input(inputs[i]), plan.output(outputs[i]), reduction);
    }
  });
}

Group::WorkPtr Group::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
    std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) {
  constexpr const char* title = TITLE("all_to_all_single");
  check_dtypes(title, {output}, input.scalar_type());
  const auto received = bytes_of(title, output_splits, output, size_);
  const auto sent = bytes_of(title, input_splits, input, size_);
  return run({c10d::OpType::ALLTOALL_BASE, title, {input}, {output}, options.timeout}, [output, input, received, sent](Plan& plan) {
    Transfer& transfer = plan.move(Move::kAlltoall, plan.input(input), plan.output(output));
    transfer.in_splits = sent;
    transfer.out_splits = received;
  });
}

Group::WorkPtr Group::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) {
  constexpr const char* title = TITLE("all_to_all");
  for (const Tensors* tensors : {&outputs, &inputs}) {
    TORCH_CHECK(std::cmp_equal(tensors->size(), size_), title, " takes ", size_, " tensors, not ", tensors->size());
    check_dtypes(title, *tensors, inputs.front().scalar_type());
  }
  return run({c10d::OpType::ALLTOALL, title, inputs, outputs, options.timeout}, [outputs, inputs](Plan& plan) {
    Transfer& transfer = plan.move(Move::kAlltoall, plan.input(inputs), plan.output(outputs));
    for (size_t i = 0; i < inputs.size(); ++i) {
      transfer.in_splits.push_back(static_cast<int64_t>(inputs[i].nbytes()));
      transfer.out_splits.push_back(static_cast<int64_t>(outputs[i].nbytes()));
    }
  });
}

Group::WorkPtr Group::send(Tensors& tensors, int peer, int tag) {
  constexpr const char* title = TITLE("send");
  const at::Tensor& tensor = only(title, tensors);
  check_root(title, peer, size_);
  return run({c10d::OpType::SEND, title, tensors, {}, kGroupTimeout, CommStreams::to(peer)}, [tensor, peer, tag](Plan& plan) {
    Transfer& transfer = plan.move(Move::kSend, plan.input(tensor), at::Tensor());
    transfer.peer = peer;
    transfer.tag = tag;
  });
}

Group::WorkPtr Group::recv(Tensors& tensors, int peer, int tag) {
  check_root(TITLE("recv"), peer, size_);
  return receive(TITLE("recv"), c10d::OpType::RECV, tensors, peer, tag);
}

Group::WorkPtr Group::recvAnysource(Tensors& tensors, int tag) {
  return receive(TITLE("recv_any_source"), c10d::OpType::RECVANYSOURCE, tensors, -1, tag);
}

Group::WorkPtr Group::receive(const char* title, c10d::OpType type, Tensors& tensors, int peer, int tag) {
  const at::Tensor& tensor = only(title, tensors);
  return run({type, title, {}, tensors, kGroupTimeout, peer < 0 ? CommStreams::kFromAny : CommStreams::from(peer)}, [tensor, peer, tag](Plan& plan) {
    Transfer& transfer = plan.move(Move::kReceive, at::Tensor(), plan.output(tensor));
    transfer.peer = peer;
    transfer.tag = tag;
  });
}

Group::WorkPtr Group::barrier(const c10d::BarrierOptions& options) {
  if (options.device && options.device->is_privateuseone() && options.device->has_index()) {
    eagerConnectSingleDevice(*options.device);
  }
  return run({c10d::OpType::BARRIER, TITLE("barrier"), {}, {}, options.timeout, CommStreams::kCollectives, /*waits_on_host=*/true}, [](Plan& plan) { plan.move(Move::kBarrier, at::Tensor(), at::Tensor()); });
}

#undef TITLE

}  // namespace openreg::distributed
