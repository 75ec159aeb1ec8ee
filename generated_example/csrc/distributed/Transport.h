// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <c10/core/ScalarType.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/ArrayRef.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "runtime/Export.h"
#include "runtime/Stream.h"

// Note [Collectives]
// torch.distributed calls a backend with tensors, and expects the behaviour of a device's library of collectives (such as
// NCCL): work is queued on a stream, the host goes on, Work::wait() makes the current stream wait. From the top:
//   Collectives.cpp    the functions of c10d::Backend: check tensors, describe the transfers
//   ProcessGroup.cpp   queues them on the group's stream, after the work of the current stream; makes the Work
//   Work.h             the caller's result
//   Transport.h        the interface of the library that moves the bytes: run(), abort()
//   NewTransport.cpp   chooses the library. Yours: Gloo until you write another one
//   GlooTransport.h    Gloo as PyTorch ships it, through pinned memory if the host can't reach device memory
// Transport doesn't use tensors or c10d::Work, and the process group doesn't use a library directly.

namespace openreg::distributed {

/// In the order of c10d::ReduceOp.
enum class Reduction {
  kSum,
  kAverage,
  kProduct,
  kMin,
  kMax,
  kBitAnd,
  kBitOr,
  kBitXor,
};
static_assert(static_cast<int>(Reduction::kBitXor) == c10d::ReduceOp::BXOR);

enum class Move {
  kBroadcast,  // `data` of `peer` to all
  kAllreduce,  // in place
  kReduce,  // in place, at `peer`; elsewhere `data` stays as it is
  kAllgather,  // `in` of each rank to the place of that rank in `out`
  kReduceScatter,  // the place of each rank in `in`, reduced, to `out` of that rank
  kAlltoall,  // part i of `in` to rank i; part j of `out` is from rank j
  kGather,  // as kAllgather, at `peer`; elsewhere `out` is null
  kScatter,  // the place of each rank in `in` of `peer` to `out` of that rank; elsewhere `in` is null
  kSend,  // `in` to `peer`
  kReceive,  // `out` from `peer`
  kBarrier,  // nothing
};

/// One transfer for the library: device memory without gaps. `in` and `out` are the same where it says in place.
struct Transfer {
  Move move = Move::kBarrier;
  const void* in = nullptr;
  size_t in_bytes = 0;
  void* out = nullptr;
  size_t out_bytes = 0;
  at::ScalarType dtype = at::kByte;  // for reductions; everything else is bytes
  Reduction reduction = Reduction::kSum;
  int peer = -1;  // the root, or the other side; -1 at kReceive: any
  int tag = 0;
  std::vector<int64_t> in_splits = {}, out_splits = {};  // kAlltoall: bytes of each part; empty: all the same
  // Whose memory that is: for libraries that go on with it after abort(), when the stream has come past already.
  c10::weak_intrusive_ptr<c10::StorageImpl> in_storage{c10::intrusive_ptr<c10::StorageImpl>()};
  c10::weak_intrusive_ptr<c10::StorageImpl> out_storage{c10::intrusive_ptr<c10::StorageImpl>()};
};

inline bool is_point_to_point(Move move) { return move == Move::kSend || move == Move::kReceive; }

/// No rank has anything to move, since all parts have the same size.
inline bool is_empty(const Transfer& transfer) {
  return transfer.move != Move::kBarrier && transfer.move != Move::kAlltoall && transfer.in_bytes == 0 && transfer.out_bytes == 0;
}

/// One operation of the group, from its call to its end, for messages about it. Threads: any.
class OPENREG_RUNTIME_API Operation {
 public:
  enum class State {
    kQueued,
    kRunning,
    kDone,
    kFailed,
  };

  std::string name;  // "all_reduce"
  std::string what;  // "Float[4096]"
  std::string group;
  uint64_t sequence = 0;
  int rank = 0, size = 1;
  c10::DeviceIndex device = 0;
  std::chrono::milliseconds timeout{0};

  State state() const { return state_.load(std::memory_order_acquire); }
  void set(State state) { state_.store(state, std::memory_order_release); }
  /// The first failure is the one that is kept; its text begins with describe().
  void fail(const std::string& why);
  std::exception_ptr error() const;
  std::string message() const;
  /// "all_reduce 3 (Float[4096]) of rank 0 of 2, group '0'"
  std::string describe() const;

  std::atomic<int> source{-1};  // of a kReceive from any rank

 private:
  std::atomic<State> state_{State::kQueued};
  mutable std::mutex mutex_;
  std::string message_;
};

/// Shared by the operations of one group: its failure, and the last operations for messages. Threads: any.
class OPENREG_RUNTIME_API Journal {
 public:
  void add(std::shared_ptr<Operation> operation);
  std::vector<std::shared_ptr<Operation>> last() const;
  /// One line per operation, the oldest first.
  std::string text() const;

  /// After this has a text, nothing runs any more: a group can't continue after a rank has failed. The first text and its
  /// kind stay. True for the first.
  bool fail(const std::string& why, c10d::ErrorType kind = c10d::ErrorType::COMM_ERROR);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// SUCCESS until it failed.
  c10d::ErrorType error() const;
  std::string failure() const;

  std::string group;
  int rank = 0, size = 1;

 private:
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<Operation>> operations_;
  std::atomic<bool> failed_{false};
  std::string failure_;
  c10d::ErrorType error_ = c10d::ErrorType::SUCCESS;
};

/// A library of collectives, connected to the ranks of one group. Made by new_transport().
class OPENREG_RUNTIME_API Transport {
 public:
  virtual ~Transport() = default;

  /// Queues all of `transfers` on `stream`, as one: none of them may wait for another one to end. All memory is of the stream's
  /// device, which is current, and stays until the stream has come past. Returns without waiting where the library can, and
  /// says of `operation` when it runs, and how it ends, where the library knows. Throws what can be said at once.
  /// Calls come in the same order on all ranks, but for sends and receives. Threads: one at a time.
  virtual void run(std::vector<Transfer> transfers, const OpenRegStream& stream, std::shared_ptr<Operation> operation) = 0;

  /// Throws c10::TypeError, with `name`, if the library does not reduce numbers of `dtype` like that. Threads: any.
  virtual void check_reduction(const char* name, at::ScalarType dtype, Reduction reduction) const {
    static_cast<void>(name), static_cast<void>(dtype), static_cast<void>(reduction);
  }

  /// Soon ends queued work with an error; nothing runs after that. Threads: any, also during run().
  virtual void abort() = 0;

  /// A transport for some of the ranks, which all call it with the same list: this process's rank in it is that of its place.
  virtual std::unique_ptr<Transport> split(
      const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks, std::shared_ptr<Journal> journal);
  virtual bool splits() const { return false; }
};

/// The parameters of a transport. `gloo` is PyTorch's Gloo over the same ranks, connected.
struct TransportOptions {
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0, size = 1;
  std::chrono::milliseconds timeout{0};
  c10::intrusive_ptr<c10d::Backend> gloo;
  std::shared_ptr<Journal> journal;
};

/// NewTransport.cpp: the library that this backend uses.
std::unique_ptr<Transport> new_transport(const TransportOptions& options);

/// For libraries with only sends and receives: `transfer`, which reduces nothing, as these.
OPENREG_RUNTIME_API std::vector<Transfer> as_sends_and_receives(const Transfer& transfer, int rank, int size);

const char* name_of(Move move);
const char* name_of(Reduction reduction);
OPENREG_RUNTIME_API const char* name_of(Operation::State state);

}  // namespace openreg::distributed
