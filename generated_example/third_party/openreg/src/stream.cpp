// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "stream.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <utility>

#include "config.h"

namespace openreg::driver {
namespace {

thread_local Stream* current_stream = nullptr;

// Signals of the process are for the host's threads. Those that a fault raises in this thread cannot be left to others.
void leave_signals_to_host() {
  sigset_t set;
  sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&set, fault);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void ask_for_priority(int priority) {
  constexpr int kNicePerStep = 5;
  if (priority == Stream::kLeastPriority) return;
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNicePerStep * priority);
}

// As a busy device would, so that who forgets to wait for a stream is seen.
void delay_by_jitter() {
  const auto most = config().stream_jitter;
  if (most.count() == 0) return;
  thread_local std::minstd_rand random{std::random_device{}()};
  std::this_thread::sleep_for(most * std::uniform_real_distribution<double>()(random));
}

}  // namespace

bool Lookout::several_processors() {
  static const bool several = std::thread::hardware_concurrency() > 1;
  return several;
}

void Lookout::relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

Stream::Stream(int device, int number, int priority, Isolation& isolation)
    : device_(device), number_(number), priority_(priority), isolation_(isolation) {}

Stream* Stream::current() noexcept { return current_stream; }

void Stream::start() {
  std::thread([self = shared_from_this()] { self->work(); }).detach();
  started_ = true;
}

void Stream::submit(Touches touches, std::function<void()> run, const What& what) {
  // Marks of events are not activities.
  std::unique_ptr<Activity> activity;
  if (Activities::on() && touches == Touches::kMemory) activity = Activities::begin(Activities::named(what), device_, number_);
  {
    std::lock_guard lock(submission_);
    if (capture_ != nullptr) return capture_->add(*this, {.touches = touches, .run = std::move(run), .what = Activities::named(what)});
    if (!started_) start();
    queue_.push(Task{touches, std::move(run), std::move(activity)});
    // Who is about to sleep says so and looks at submitted_ after that, so one of the two sees the other.
    submitted_.store(submitted_.load(std::memory_order_relaxed) + 1);
  }
  wake();
}

void Stream::wake() {
  if (!sleeping_.load()) return;
  std::lock_guard lock(sleep_);
  if (sleeping_.exchange(false)) arrived_.notify_one();
}

void Stream::launch(std::shared_ptr<const Graph> graph) {
  // Each part of the graph has a record of its own.
  std::shared_ptr<const Activity> launched;
  if (Activities::on()) launched = Activities::begin({}, device_, number_);
  {
    std::lock_guard lock(submission_);
    if (!started_) start();
    const auto run = [graph = std::move(graph), launched] { graph->run(launched.get()); };
    queue_.push(Task{Touches::kMemory, run, nullptr});
    submitted_.store(submitted_.load(std::memory_order_relaxed) + 1);
  }
  wake();
}

std::shared_ptr<Capture> Stream::capture() {
  std::lock_guard lock(submission_);
  return capture_;
}

bool Stream::join(std::shared_ptr<Capture> capture) {
  std::lock_guard lock(submission_);
  if (capture != nullptr && capture_ != nullptr && capture_ != capture) return false;
  capture_ = std::move(capture);
  return true;
}

bool Stream::run_when_idle(const std::function<void(const Isolation::Visit&)>& run, const What& what) {
  constexpr int kTrials = 4;
  if (!isolation_.has_visits()) return false;
  for (int trial = 0; trial < kTrials; ++trial) {
    wait();
    std::lock_guard lock(submission_);
    if (capture_ != nullptr) return false;
    if (!done(submitted_.load())) continue;
    const Isolation::Visit visit(isolation_);
    const auto activity = Activities::on() ? Activities::begin(what, device_, number_) : nullptr;
    if (activity != nullptr) activity->start = Activities::now();
    run(visit);
    if (activity != nullptr) {
      activity->end = Activities::now();
      Activities::finish(*activity);
    }
    return true;
  }
  return false;
}

void Stream::work() {
  current_stream = this;
  leave_signals_to_host();
  ask_for_priority(priority_);
  isolation_.enter_thread();
  while (Task* task = next_task()) {
    run(*task);
    // Released before it counts as completed, so that a waiting thread can close the memory.
    if (!has_task() && std::exchange(has_memory_, false)) isolation_.release();
    complete_one();
  }
}

void Stream::run(Task& task) {
  delay_by_jitter();
  const bool needs_memory = task.touches == Touches::kMemory;
  if (needs_memory && !has_memory_) isolation_.open();
  if (!needs_memory && has_memory_) isolation_.release();
  has_memory_ = needs_memory;
  if (task.activity != nullptr) task.activity->start = Activities::now();
  try {
    task.run();
  } catch (...) {
    failed_.store(true);
  }
  if (task.activity != nullptr) {
    task.activity->end = Activities::now();
    Activities::finish(*task.activity);
    task.activity = nullptr;
  }
  task.run = nullptr;
}

void Stream::complete_one() {
  completed_.store(completed_.load(std::memory_order_relaxed) + 1);
  // Who counts itself among the waiting looks at completed_ after that, so one of the two sees the other.
  if (waiting_.load() == 0) return;
  std::lock_guard lock(sleep_);
  finished_.notify_all();
}

Task* Stream::next_task() {
  if (!has_task() && !arrival_.see([this] { return has_task(); })) sleep_until_work();
  if (!has_task()) return nullptr;
  ++taken_;
  return &queue_.take();
}

void Stream::sleep_until_work() {
  // Set again before each sleep: a thread that was late to wake this one for a task it had already seen has cleared it.
  const auto wake = [this] {
    sleeping_.store(true);
    return has_task() || closed_.load();
  };
  std::unique_lock lock(sleep_);
  // Nobody may have synchronized, so a stream without work closes device memory by itself.
  if (isolation_.is_open() && !arrived_.wait_for(lock, isolation_.patience(), wake)) isolation_.seal_idle();
  arrived_.wait(lock, wake);
  sleeping_.store(false);
}

bool Stream::idle() {
  if (!done(submitted_.load())) return false;
  isolation_.seal();
  return true;
}

void Stream::wait() {
  const std::uint64_t target = submitted_.load();
  if (!completion_.see([&] { return done(target); })) {
    std::unique_lock lock(sleep_);
    waiting_.fetch_add(1);
    finished_.wait(lock, [&] { return done(target); });
    waiting_.fetch_sub(1);
  }
  isolation_.seal();
}

bool Stream::wait_until(Clock::time_point deadline) {
  const std::uint64_t target = submitted_.load();
  std::unique_lock lock(sleep_);
  waiting_.fetch_add(1);
  const bool reached = finished_.wait_until(lock, deadline, [&] { return done(target); });
  waiting_.fetch_sub(1);
  return reached;
}

bool Stream::take_failure() { return failed_.exchange(false); }

void Stream::close() {
  std::lock_guard lock(sleep_);
  closed_.store(true);
  arrived_.notify_one();
}

}  // namespace openreg::driver
