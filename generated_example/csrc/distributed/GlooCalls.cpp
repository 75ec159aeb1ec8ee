// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include "distributed/GlooCalls.h"

#include <cstdint>
#include <limits>
#include <utility>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <c10/util/Exception.h>

namespace openreg::distributed {
namespace {

at::Tensor pinned(size_t bytes) {
  const int64_t size = static_cast<int64_t>(bytes);
  return at::detail::empty_cpu({size}, at::kByte, at::kStrided, at::kCPU, /*pin_memory=*/true, std::nullopt);
}

at::Tensor in_place(const void* data, size_t bytes) {
  return at::from_blob(const_cast<void*>(data), {static_cast<int64_t>(bytes)}, at::device(at::kCPU).dtype(at::kByte));
}

/// An average is divided afterwards: Gloo's has no integers.
c10d::ReduceOp op_of(Reduction reduction) {
  return static_cast<c10d::ReduceOp::RedOpType>(reduction == Reduction::kAverage ? Reduction::kSum : reduction);
}

/// As NCCL has it: of truth values a sum is "any", a product "all".
Reduction of_bools(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
    case Reduction::kBitOr:
      return Reduction::kMax;
    case Reduction::kProduct:
    case Reduction::kBitAnd:
      return Reduction::kMin;
    default:
      return reduction;
  }
}

bool orders(Reduction reduction) { return reduction == Reduction::kMin || reduction == Reduction::kMax; }

/// The order of numbers without a sign is that of numbers with one, once the highest bit is turned.
void turn_highest_bit(const at::Tensor& int64) { int64.bitwise_xor_(std::numeric_limits<int64_t>::min()); }

void divide(const at::Tensor& sum, at::ScalarType dtype, int64_t count) {
  if (dtype == at::kUInt64) {
    auto* values = reinterpret_cast<uint64_t*>(sum.mutable_data_ptr<int64_t>());
    for (int64_t i = 0; i < sum.numel(); ++i) {
      values[i] /= static_cast<uint64_t>(count);
    }
  } else if (at::isIntegralType(sum.scalar_type(), /*includeBool=*/false)) {
    sum.div_(count, "trunc");
  } else {
    sum.div_(count);
  }
}

/// The dtype in which Gloo reduces `dtype`.
at::ScalarType known_to_gloo(at::ScalarType dtype) {
  switch (dtype) {
    case at::kBool:
      return at::kByte;
    case at::kShort:
    case at::kUInt16:
      return at::kInt;
    case at::kUInt32:
    case at::kUInt64:
      return at::kLong;
    default:
      return c10::isComplexType(dtype) ? c10::toRealValueType(dtype) : dtype;
  }
}

}  // namespace

void check_reduced_by_gloo(const char* name, at::ScalarType dtype, Reduction reduction) {
  const bool integral = at::isIntegralType(dtype, /*includeBool=*/true);
  const bool bits = reduction == Reduction::kBitAnd || reduction == Reduction::kBitOr || reduction == Reduction::kBitXor;
  TORCH_CHECK_TYPE(dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat || dtype == at::kDouble || integral ||
          c10::isComplexType(dtype),
      name, " does not reduce ", dtype, ": convert it, or move it by all_gather");
  TORCH_CHECK_TYPE(integral || !bits, "Cannot use ReduceOp.", name_of(reduction), " with non-integral dtype");
  TORCH_CHECK_TYPE(dtype != at::kBool || reduction != Reduction::kAverage, "Cannot use ReduceOp.AVG with Bool");
  TORCH_CHECK_TYPE(!c10::isComplexType(dtype) || reduction == Reduction::kSum || reduction == Reduction::kAverage,
      name, " does not support ", name_of(reduction), " on complex tensors");
}

GlooCall::GlooCall(Transfer transfer, int rank, int size, bool reaches)
    : transfer_(std::move(transfer)), rank_(rank), size_(size) {
  const Move move = transfer_.move;
  const bool root = transfer_.peer == rank;
  const auto buffer = [](bool alias, const void* data, size_t bytes) { return alias ? in_place(data, bytes) : pinned(bytes); };
  switch (move) {
    case Move::kBroadcast:
    case Move::kAllreduce:
    case Move::kReduce:
      // Gloo leaves a part of the sum in what each rank gives to it.
      in_ = out_ = buffer(reaches && (move != Move::kReduce || root), transfer_.in, transfer_.in_bytes);
      writes_ = move == Move::kAllreduce || (root == (move == Move::kReduce));
      break;
    default:
      if (transfer_.in != nullptr || transfer_.in_bytes == 0) {
        in_ = buffer(reaches && move != Move::kReduceScatter, transfer_.in, transfer_.in_bytes);
      }
      if (transfer_.out != nullptr || transfer_.out_bytes == 0) {
        out_ = buffer(reaches, transfer_.out, transfer_.out_bytes);
        writes_ = transfer_.out_bytes != 0;
      }
  }
}

std::vector<c10::intrusive_ptr<c10::StorageImpl>> GlooCall::used_storages() const {
  std::vector<c10::intrusive_ptr<c10::StorageImpl>> storages;
  if (in_.defined() && in_.numel() != 0 && in_.const_data_ptr() == transfer_.in) {
    storages.push_back(transfer_.in_storage.lock());
  }
  if (out_.defined() && out_.numel() != 0 && out_.const_data_ptr() == transfer_.out) {
    storages.push_back(transfer_.out_storage.lock());
  }
  return storages;
}

at::Tensor GlooCall::part(const at::Tensor& buffer, int64_t index) const {
  const int64_t share = buffer.numel() / size_;
  return buffer.narrow(0, index * share, share);
}

std::vector<at::Tensor> GlooCall::parts(const at::Tensor& buffer) const {
  std::vector<at::Tensor> all;
  for (int64_t i = 0; i < size_; ++i) {
    all.push_back(part(buffer, i));
  }
  return all;
}

at::Tensor GlooCall::to_reduce(const at::Tensor& bytes) const {
  const at::ScalarType dtype = transfer_.dtype;
  const at::ScalarType known = known_to_gloo(dtype);
  if (dtype == at::kUInt64) {
    at::Tensor values = bytes.view(at::kLong);
    if (orders(transfer_.reduction)) {
      turn_highest_bit(values);
    }
    return values;
  }
  return c10::isComplexType(dtype) ? bytes.view(known) : bytes.view(dtype).to(known);
}

c10::intrusive_ptr<c10d::Work> GlooCall::start(c10d::Backend& gloo, std::chrono::milliseconds timeout) {
  const Reduction reduction = transfer_.dtype == at::kBool ? of_bools(transfer_.reduction) : transfer_.reduction;
  std::vector<at::Tensor> in{in_}, out{out_};
  switch (transfer_.move) {
    case Move::kBroadcast: {
      c10d::BroadcastOptions options;
      options.rootRank = transfer_.peer;
      options.timeout = timeout;
      return gloo.broadcast(out, options);
    }
    case Move::kAllreduce: {
      c10d::AllreduceOptions options;
      options.reduceOp = op_of(reduction);
      options.timeout = timeout;
      reduced_ = to_reduce(in_);
      std::vector<at::Tensor> tensors{reduced_};
      return gloo.allreduce(tensors, options);
    }
    case Move::kReduce: {
      c10d::ReduceOptions options;
      options.reduceOp = op_of(reduction);
      options.rootRank = transfer_.peer;
      options.timeout = timeout;
      reduced_ = to_reduce(in_);
      std::vector<at::Tensor> tensors{reduced_};
      return gloo.reduce(tensors, options);
    }
    case Move::kReduceScatter: {  // as Gloo has it in PyTorch: all is reduced, and each rank takes its part
      c10d::AllreduceOptions options;
      options.reduceOp = op_of(reduction);
      options.timeout = timeout;
      reduced_ = to_reduce(in_);
      std::vector<at::Tensor> tensors{reduced_};
      return gloo.allreduce(tensors, options);
    }
    case Move::kAllgather: {
      c10d::AllgatherOptions options;
      options.timeout = timeout;
      std::vector<std::vector<at::Tensor>> outputs{parts(out_)};
      return gloo.allgather(outputs, in, options);
    }
    case Move::kGather: {
      c10d::GatherOptions options;
      options.rootRank = transfer_.peer;
      options.timeout = timeout;
      std::vector<std::vector<at::Tensor>> outputs;
      if (transfer_.peer == rank_) {
        outputs.push_back(parts(out_));
      }
      return gloo.gather(outputs, in, options);
    }
    case Move::kScatter: {
      c10d::ScatterOptions options;
      options.rootRank = transfer_.peer;
      options.timeout = timeout;
      std::vector<std::vector<at::Tensor>> inputs;
      if (transfer_.peer == rank_) {
        inputs.push_back(parts(in_));
      }
      return gloo.scatter(out, inputs, options);
    }
    case Move::kAlltoall: {
      c10d::AllToAllOptions options;
      options.timeout = timeout;
      return gloo.alltoall_base(out_, in_, transfer_.out_splits, transfer_.in_splits, options);
    }
    case Move::kSend:
      return gloo.send(in, transfer_.peer, transfer_.tag);
    case Move::kReceive:
      return transfer_.peer < 0 ? gloo.recvAnysource(out, transfer_.tag) : gloo.recv(out, transfer_.peer, transfer_.tag);
    case Move::kBarrier: {
      c10d::BarrierOptions options;
      options.timeout = timeout;
      return gloo.barrier(options);
    }
  }
  return {};
}

void GlooCall::finish() {
  if (!reduced_.defined() || !writes_) {
    return;
  }
  at::Tensor result = transfer_.move == Move::kReduceScatter ? part(reduced_, rank_) : reduced_;
  if (transfer_.reduction == Reduction::kAverage) {
    divide(result, transfer_.dtype, size_);
  }
  if (transfer_.dtype == at::kUInt64 && orders(transfer_.reduction)) {
    turn_highest_bit(result);
  }
  if (result.data_ptr() != out_.data_ptr()) {
    const bool same = c10::isComplexType(transfer_.dtype) || transfer_.dtype == at::kUInt64;
    out_.view(same ? result.scalar_type() : transfer_.dtype).copy_(result);
  }
}

}  // namespace openreg::distributed
