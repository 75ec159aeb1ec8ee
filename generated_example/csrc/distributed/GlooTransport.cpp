// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include "distributed/GlooTransport.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <c10/util/ScopeExit.h>

#include "distributed/GlooCalls.h"
#include "distributed/Unfinished.h"
#include "host/Tensors.h"
#include "host/alias/Alias.h"
#include "host/alias/Queue.h"
#include "runtime/Event.h"
#include "runtime/DeviceErrors.h"
#include "runtime/Exception.h"

namespace openreg::distributed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kLate = "timed out";

/// Tells waiting functions that something has ended. Gloo's threads hold it; they must not hold what holds Gloo.
struct Signal {
  std::mutex mutex;
  std::condition_variable changed;
};

/// What the functions on streams share with the transport, which may be gone before they have run. Threads: any.
class Connection {
 public:
  explicit Connection(const TransportOptions& options)
      : rank(options.rank), size(options.size), journal(options.journal), gloo(options.gloo) {}
  ~Connection() {
    for (const auto& [device, stream] : copies_) {
      static_cast<void>(orStreamDestroy(stream));
    }
    if (!given_up_.empty()) {
      UnfinishedCalls::get().keep({std::move(given_up_), {}, std::move(gloo)});
    }
  }

  uint64_t take_ticket() { return issued_++; }
  void give_back_ticket() { --issued_; }

  /// Starts all `calls` at Gloo, when it is the turn of `ticket`, if there is one, and adds their works to `works`.
  void start(std::vector<GlooCall>& calls, std::optional<uint64_t> ticket, std::chrono::milliseconds timeout,
      std::vector<c10::intrusive_ptr<c10d::Work>>& works) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto next = c10::make_scope_exit([&] {
      if (ticket) {
        turn_ = std::max(turn_, *ticket + 1);
        changed_.notify_all();
      }
    });
    changed_.wait(lock, [&] { return !ticket || turn_ == *ticket || journal->failed(); });
    check();
    for (GlooCall& call : calls) {
      works.push_back(call.start(*gloo, timeout));
      if (is_point_to_point(call.transfer().move)) {
        waits_.push_back(works.back());
      }
    }
  }

  /// Waits for one of them, which Gloo does with sends and receives, and tells of all others when they are done.
  void wait(const GlooCall& call, const c10::intrusive_ptr<c10d::Work>& work, Clock::time_point deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (is_point_to_point(call.transfer().move)) {
      const auto done = c10::make_scope_exit([&] {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::erase(waits_, work);
      });
      const bool arrived = work->wait(std::max(left, std::chrono::milliseconds(1)));
      check();
      TORCH_CHECK(arrived, "it was aborted");
      return;
    }
    const auto future = work->getFuture();
    future->addCallback(
        [signal = signal_](c10::ivalue::Future&) {
          const std::lock_guard<std::mutex> lock(signal->mutex);
          signal->changed.notify_all();
        },
        /*uses_future=*/false);
    {
      std::unique_lock<std::mutex> lock(mutex_);
      const bool ended = changed_.wait_until(lock, deadline, [&] { return future->completed() || journal->failed(); });
      if (!future->completed()) {
        check();
        TORCH_CHECK(ended, kLate);
      }
    }
    if (future->hasError()) {
      std::rethrow_exception(future->exception_ptr());
    }
  }

  /// Wakes all who wait; `journal` says why.
  void give_up() {
    std::vector<c10::intrusive_ptr<c10d::Work>> waits;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      waits = waits_;
      changed_.notify_all();
    }
    for (const auto& work : waits) {
      work->abort();
    }
  }

  /// A stream of this connection's own for copies of staged tasks, on which nothing else can wait. Of the current device.
  orStream_t copies(c10::DeviceIndex device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [found, is_new] = copies_.try_emplace(device, orStream_t{});
    if (is_new) {
      OPENREG_CHECK(orStreamCreate(&found->second));
    }
    return found->second;
  }

  void note_given_up(c10::intrusive_ptr<c10::ivalue::Future> running) {
    const std::lock_guard<std::mutex> lock(mutex_);
    given_up_.push_back(std::move(running));
  }

  void check() const { TORCH_CHECK(!journal->failed(), journal->failure()); }
  bool first_report() { return !reported_.exchange(true); }

  const int rank, size;
  const std::shared_ptr<Journal> journal;
  c10::intrusive_ptr<c10d::Backend> gloo;

 private:
  const std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();
  std::mutex& mutex_ = signal_->mutex;
  std::condition_variable& changed_ = signal_->changed;
  uint64_t issued_ = 0, turn_ = 0;
  std::vector<c10::intrusive_ptr<c10d::Work>> waits_;  // sends and receives
  std::vector<c10::intrusive_ptr<c10::ivalue::Future>> given_up_;  // collectives that go on at Gloo, whose end waits for them
  std::unordered_map<c10::DeviceIndex, orStream_t> copies_;
  std::atomic<bool> reported_{false};
};

/// The transfers of one operation, on a stream or on the calling thread.
struct Task : native::QueuedTask {
  /// On the stream's thread, which may touch device memory.
  void operator()() {
    const auto read = [](const GlooCall& call) {
      std::memcpy(call.in(), call.transfer().in, call.transfer().in_bytes);
    };
    const auto write = [](const GlooCall& call) {
      std::memcpy(call.transfer().out, call.out(), call.transfer().out_bytes);
    };
    run(read, write);
  }

  /// On a thread that may not touch device memory: the device copies, on `stream`. Errors of kernels are not this thread's to take.
  void run_on_host(orStream_t stream) {
    const auto copy = [&](void* to, const void* from, size_t bytes, orMemcpyKind kind) {
      OPENREG_CHECK(orMemcpyAsync(to, from, bytes, kind, stream));
      OPENREG_CHECK(orStreamSynchronize(stream));
    };
    const auto read = [&](const GlooCall& call) {
      copy(call.in(), call.transfer().in, call.transfer().in_bytes, orMemcpyDeviceToHost);
    };
    const auto write = [&](const GlooCall& call) {
      copy(call.transfer().out, call.out(), call.transfer().out_bytes, orMemcpyHostToDevice);
    };
    run(read, write);
  }

  template <class Read, class Write>
  void run(const Read& read, const Write& write) {
    const CpuKernelScope scope(0);
    try {
      move(read, write);
      operation->set(Operation::State::kDone);
    } catch (const c10::Error& error) {
      failed(error.what_without_backtrace());
    } catch (const std::exception& error) {
      failed(error.what());
    }
    if (operation->state() == Operation::State::kFailed) {
      keep_memory();
    }
  }

  template <class Read, class Write>
  void move(const Read& read, const Write& write) {
    connection->check();
    operation->set(Operation::State::kRunning);
    deadline = Clock::now() + operation->timeout;
    for (const GlooCall& call : calls) {
      if (call.copies_in()) {
        read(call);
      }
    }
    connection->start(calls, ticket, operation->timeout, works);
    for (size_t i = 0; i < calls.size(); ++i) {
      connection->wait(calls[i], works[i], deadline);
      if (calls[i].transfer().move == Move::kReceive) {
        operation->source = works[i]->sourceRank();
      }
      calls[i].finish();
      if (calls[i].copies_out()) {
        write(calls[i]);
      }
    }
  }

  void failed(const std::string& why) {
    Journal& journal = *connection->journal;
    const bool late = Clock::now() + std::chrono::milliseconds(1) >= deadline;  // Gloo's own clock counts whole milliseconds
    operation->fail(late ? c10::str(kLate, " after ", operation->timeout.count(), " ms: not all ranks got there") : why);
    const std::string message = operation->message();
    if (journal.fail(message, late ? c10d::ErrorType::TIMEOUT : c10d::ErrorType::COMM_ERROR)) {
      LOG(ERROR) << c10::str(message, "\nThe last operations of this rank:\n", journal.text());
    }
    if (connection->first_report()) {
      report_kernel_error(operation->device, message.c_str());
    }
    connection->give_up();
  }

  /// A collective that was given up stays with Gloo until its time is out. The memory that it uses stays as long: it is kept,
  /// or, if nobody has a tensor of it any more, the stream does not come past.
  void keep_memory() {
    UnfinishedCalls::Item item;
    bool wait = false;
    for (size_t i = 0; i < works.size(); ++i) {
      if (is_point_to_point(calls[i].transfer().move) || works[i]->getFuture()->completed()) {
        continue;  // sends and receives end with their work
      }
      connection->note_given_up(works[i]->getFuture());
      auto storages = calls[i].used_storages();
      if (!storages.empty()) {
        item.running.push_back(works[i]->getFuture());
        wait |= std::find(storages.begin(), storages.end(), nullptr) != storages.end();
        std::move(storages.begin(), storages.end(), std::back_inserter(item.storages));
      }
    }
    works.clear();
    const auto running = item.running;
    if (!running.empty()) {
      UnfinishedCalls::get().keep(std::move(item));
    }
    for (size_t i = 0; wait && i < running.size(); ++i) {
      running[i]->wait();
    }
  }

  std::shared_ptr<Connection> connection;
  std::vector<GlooCall> calls;
  std::vector<c10::intrusive_ptr<c10d::Work>> works;  // of calls; Gloo's
  std::shared_ptr<Operation> operation;
  std::optional<uint64_t> ticket;
  Clock::time_point deadline = Clock::time_point::max();
};

/// Runs a task that has to copy in the order of `stream`, without the caller waiting: two ranks may send before they receive. A
/// function on the stream may not call the device's API, so the task is a thread's, and the function keeps what is queued behind
/// it waiting for that. The thread begins by an event, as a driver may run the functions of all streams on one thread. It holds the memory:
/// an allocator without a cache gives it back while the copies are still to come, record_stream() or not.
void run_beside(std::unique_ptr<Task> task, const OpenRegStream& stream) {
  std::promise<void> done;
  auto waits = std::make_unique<std::future<void>>(done.get_future());
  const orStream_t copies = task->connection->copies(stream.device_index());
  OpenRegEvent reached;
  reached.record(stream);
  const auto wait = [](void* argument) {
    const std::unique_ptr<std::future<void>> owned(static_cast<std::future<void>*>(argument));
    owned->wait();
  };
  OPENREG_CHECK_DEVICE();
  const orError_t launched = orLaunchKernel(stream.stream(), wait, waits.get());
  OPENREG_CHECK(launched);
  static_cast<void>(waits.release());
  const auto give_up = [of = task->connection] { of->journal->fail("the process exits"), of->give_up(); };
  std::vector<c10::intrusive_ptr<c10::StorageImpl>> held;
  for (const GlooCall& call : task->calls) {
    held.push_back(call.transfer().in_storage.lock());
    held.push_back(call.transfer().out_storage.lock());
  }
  // A promise that is dropped ends the wait, too, if there can be no thread.
  StreamHelpers::get().start(give_up, [task = std::move(task), done = std::move(done), reached = std::move(reached), held = std::move(held), device = stream.device(), copies]() mutable {
    const auto last = c10::make_scope_exit([&] {
      task.reset();
      done.set_value();
      held.clear();  // which may wait for the stream
    });
    try {
      const c10::DeviceGuard guard(device);
      OPENREG_CHECK(orEventSynchronize(reached.event()));
      task->run_on_host(copies);
    } catch (const std::exception& error) {
      task->failed(error.what());
    }
  });
}

class GlooTransport final : public Transport {
 public:
  explicit GlooTransport(const TransportOptions& options)
      : options_(options), connection_(std::make_shared<Connection>(options)) {
    TORCH_CHECK(options.gloo, "collectives of openreg need PyTorch's Gloo, which this PyTorch was built without");
    options_.gloo.reset();  // the connection's alone, so that its end is the connection's
  }
  ~GlooTransport() override = default;

  void run(std::vector<Transfer> transfers, const OpenRegStream& stream, std::shared_ptr<Operation> operation) override {
    UnfinishedCalls::get().collect();
    copy_to_itself(transfers, stream);
    auto task = std::make_unique<Task>();
    const bool reaches = native::host_reaches_memory();
    for (Transfer& transfer : transfers) {
      if (!is_empty(transfer)) {
        if (!is_point_to_point(transfer.move) && !task->ticket) {
          task->ticket = connection_->take_ticket();
        }
        task->calls.emplace_back(std::move(transfer), connection_->rank, connection_->size, reaches);
      }
    }
    task->connection = connection_;
    task->operation = operation;
    const bool ticket = task->ticket.has_value();
    try {
      if (native::kernels_reach_memory()) {
        native::queue(std::move(task));
        return;
      }
      run_beside(std::move(task), stream);
    } catch (...) {
      if (ticket) {
        connection_->give_back_ticket();
      }
      throw;
    }
  }

  void check_reduction(const char* name, at::ScalarType dtype, Reduction reduction) const override {
    check_reduced_by_gloo(name, dtype, reduction);
  }

  void abort() override { connection_->give_up(); }

  bool splits() const override { return connection_->gloo->supportsSplitting(); }

  std::unique_ptr<Transport> split(const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
      std::shared_ptr<Journal> journal) override {
    TransportOptions options = options_;
    options.store = store;
    options.gloo = connection_->gloo->split(store, ranks, connection_->gloo->getBackendOptions());
    options.rank = options.gloo->getRank();
    options.size = options.gloo->getSize();
    options.journal = std::move(journal);
    return std::make_unique<GlooTransport>(options);
  }

 private:
  /// What a rank sends to itself in a batch, as NCCL has it, is a copy on the device; Gloo has no way to itself.
  void copy_to_itself(std::vector<Transfer>& transfers, const OpenRegStream& stream) const {
    const auto to_itself = [&](const Transfer& transfer, Move move) {
      return transfer.move == move && transfer.peer == connection_->rank;
    };
    for (auto send = transfers.begin(); send != transfers.end();) {
      if (!to_itself(*send, Move::kSend)) {
        ++send;
        continue;
      }
      const auto receive = std::find_if(transfers.begin(), transfers.end(),
          [&](const Transfer& other) { return to_itself(other, Move::kReceive) && other.tag == send->tag; });
      TORCH_CHECK(receive != transfers.end(), "rank ", connection_->rank, " sends to itself, and does not receive that in the same batch");
      TORCH_CHECK(receive->out_bytes == send->in_bytes, "rank ", connection_->rank, " sends ", send->in_bytes,
          " bytes to itself, and receives ", receive->out_bytes);
      OPENREG_CHECK_LAUNCH(orMemcpyAsync(
          receive->out, send->in, send->in_bytes, orMemcpyDeviceToDevice, stream.stream()));
      const auto [first, second] = std::minmax(send, receive);
      transfers.erase(second);
      send = transfers.erase(first);
    }
    TORCH_CHECK(std::none_of(transfers.begin(), transfers.end(), [&](const Transfer& transfer) { return to_itself(transfer, Move::kReceive); }),
        "rank ", connection_->rank, " receives from itself, and sends itself nothing in the same batch");
  }

  TransportOptions options_;
  const std::shared_ptr<Connection> connection_;
};

}  // namespace

std::unique_ptr<Transport> new_gloo_transport(const TransportOptions& options) {
  return std::make_unique<GlooTransport>(options);
}

}  // namespace openreg::distributed
