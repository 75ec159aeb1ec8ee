// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include "distributed/Transport.h"

#include <array>
#include <utility>

#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

namespace openreg::distributed {
namespace {

constexpr size_t kRemembered = 64;

char* behind(const void* data, size_t bytes) { return static_cast<char*>(const_cast<void*>(data)) + bytes; }

}  // namespace

const char* name_of(Move move) {
  constexpr std::array names{
      "broadcast", "allreduce", "reduce", "allgather", "reduce_scatter", "alltoall", "gather", "scatter", "send", "recv", "barrier"};
  static_assert(names.size() == static_cast<size_t>(Move::kBarrier) + 1);
  return names[static_cast<size_t>(move)];
}

const char* name_of(Reduction reduction) {
  constexpr std::array names{"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"};
  static_assert(names.size() == static_cast<size_t>(Reduction::kBitXor) + 1);
  return names[static_cast<size_t>(reduction)];
}

const char* name_of(Operation::State state) {
  constexpr std::array names{"queued", "running", "done", "failed"};
  static_assert(names.size() == static_cast<size_t>(Operation::State::kFailed) + 1);
  return names[static_cast<size_t>(state)];
}

std::string Operation::describe() const {
  return c10::str(name, " ", sequence, " (", what, ") of rank ", rank, " of ", size, ", group '", group, "'");
}

void Operation::fail(const std::string& why) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!message_.empty()) {
      return;
    }
    message_ = c10::str(describe(), ": ", why);
  }
  set(State::kFailed);
}

std::string Operation::message() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return message_;
}

std::exception_ptr Operation::error() const {
  const std::string text = message();
  if (text.empty()) {
    return nullptr;
  }
  return std::make_exception_ptr(c10::DistBackendError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, text));
}

void Journal::add(std::shared_ptr<Operation> operation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  operations_.push_back(std::move(operation));
  if (operations_.size() > kRemembered) {
    operations_.pop_front();
  }
}

std::vector<std::shared_ptr<Operation>> Journal::last() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {operations_.begin(), operations_.end()};
}

std::string Journal::text() const {
  std::string lines;
  for (const auto& operation : last()) {
    lines += c10::str("  ", operation->name, " ", operation->sequence, " (", operation->what, "): ",
        name_of(operation->state()), "\n");
  }
  return lines;
}

bool Journal::fail(const std::string& why, c10d::ErrorType kind) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failed()) {
    return false;
  }
  failure_ = why;
  error_ = kind;
  failed_.store(true, std::memory_order_release);
  return true;
}

c10d::ErrorType Journal::error() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

std::string Journal::failure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

std::unique_ptr<Transport> Transport::split(
    const c10::intrusive_ptr<c10d::Store>&, const std::vector<int>&, std::shared_ptr<Journal>) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "this transport can't be split");
}

std::vector<Transfer> as_sends_and_receives(const Transfer& transfer, int rank, int size) {
  std::vector<Transfer> parts;
  const auto send = [&](int peer, const void* data, size_t bytes) {
    parts.push_back({.move = Move::kSend, .in = data, .in_bytes = bytes, .peer = peer});
  };
  const auto receive = [&](int peer, void* data, size_t bytes) {
    parts.push_back({.move = Move::kReceive, .out = data, .out_bytes = bytes, .peer = peer});
  };
  const auto each = [&](size_t bytes, const std::vector<int64_t>& splits, auto&& part) {
    size_t at = 0;
    for (int peer = 0; peer < size; ++peer) {
      const size_t share = splits.empty() ? bytes / static_cast<size_t>(size) : static_cast<size_t>(splits[static_cast<size_t>(peer)]);
      part(peer, at, share);
      at += share;
    }
  };
  const auto receive_all = [&] {
    each(transfer.out_bytes, transfer.out_splits, [&](int peer, size_t at, size_t bytes) { receive(peer, behind(transfer.out, at), bytes); });
  };
  const auto send_all = [&] {
    each(transfer.in_bytes, transfer.in_splits, [&](int peer, size_t at, size_t bytes) { send(peer, behind(transfer.in, at), bytes); });
  };
  const bool root = transfer.peer == rank;
  switch (transfer.move) {
    case Move::kAlltoall:
      send_all();
      receive_all();
      break;
    case Move::kGather:
      send(transfer.peer, transfer.in, transfer.in_bytes);
      if (root) {
        receive_all();
      }
      break;
    case Move::kScatter:
      if (root) {
        send_all();
      }
      receive(transfer.peer, transfer.out, transfer.out_bytes);
      break;
    default:
      TORCH_CHECK(is_point_to_point(transfer.move), name_of(transfer.move), " is not made of sends and receives");
      parts.push_back(transfer);
  }
  return parts;
}

}  // namespace openreg::distributed
