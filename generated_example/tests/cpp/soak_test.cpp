// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <array>
#include <cstdlib>
#include <deque>
#include <random>
#include <set>

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/StreamGuard.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include "fixture.h"
#include "graphs/Graph.h"
#include "runtime/Event.h"

// Streams, events, copies between devices, graphs and memory, with a profiler that comes and goes: eight threads use two devices at
// random, and each result is checked. OPENREG_SOAK_SECONDS says for how long (default 1); under sanitizers this is where
// races and leaks show.

namespace openreg::test {

namespace {

constexpr unsigned kThreads = 8;  // each has its own stream of the two pools

class SoakTest : public TwoDevicesTest {
 protected:
  static std::chrono::seconds duration() {
    const char* given = std::getenv("OPENREG_SOAK_SECONDS");
    return std::chrono::seconds(given == nullptr ? 1 : std::atoi(given));
  }
  static int64_t allocated(c10::DeviceIndex device) {
    return getDeviceAllocator()->getDeviceStats(device).allocated_bytes[0].current;
  }
};

/// What one thread does, in an order that its number decides.
class Worker {
 public:
  // A stream of its own on each device: nobody else may use it while it is captured. The pools have so many.
  explicit Worker(unsigned number) : random_(number) {
    for (c10::DeviceIndex device = 0; device < 2; ++device) {
      streams_.push_back(getStreamFromPool(number % 2 == 0 ? 0 : -1, device));
    }
  }

  void step() {
    const OpenRegGuard guard(device());
    const c10::StreamGuard stream(streams_[static_cast<size_t>(current_device())].unwrap());
    switch (below(6)) {
      case 0:
        return add();
      case 1:
        return use_on_another_stream();
      case 2:
        return copy_to_the_other_device();
      case 3:
        return time_events();
      case 4:
        return allocate();
      default:
        return replay();
    }
  }

 private:
  int64_t below(int64_t bound) { return std::uniform_int_distribution<int64_t>(0, bound - 1)(random_); }
  c10::DeviceIndex device() { return static_cast<c10::DeviceIndex>(below(2)); }
  static c10::Device current() { return {c10::DeviceType::PrivateUse1, current_device()}; }
  at::Tensor filled(double value) { return at::full({1 + below(5000)}, value, at::TensorOptions(current())); }
  static void check(const at::Tensor& tensor, double value) {
    const at::Tensor host = tensor.cpu();
    const auto* data = host.const_data_ptr<float>();
    for (int64_t i = 0; i < host.numel(); ++i) {
      ASSERT_EQ(data[i], static_cast<float>(value)) << "element " << i << " of " << host.numel();
    }
  }

  void add() {
    const auto value = static_cast<double>(below(100));
    const at::Tensor x = filled(value);
    check(x.add(x), 2 * value);
  }

  void use_on_another_stream() {
    const auto value = static_cast<double>(below(100));
    at::Tensor x = filled(value);
    OpenRegEvent ready;
    ready.record(getCurrentStream());
    const OpenRegStream other = getDefaultStream();
    ready.block(other);
    const c10::StreamGuard guard(other.unwrap());
    x.record_stream(other.unwrap());
    const at::Tensor y = x.add(1);
    x.reset();  // its memory must not be given out before the other stream is done
    check(y, value + 1);
  }

  void copy_to_the_other_device() {
    const auto value = static_cast<double>(below(100));
    const at::Tensor x = filled(value);
    const c10::Device other(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(1 - current_device()));
    check(x.to(other).add_(1).to(current()), value + 1);
  }

  void time_events() {
    OpenRegEvent begin(/*enable_timing=*/true);
    OpenRegEvent end(/*enable_timing=*/true);
    begin.record(getCurrentStream());
    const at::Tensor x = filled(1).mul(2);
    end.record(getCurrentStream());
    static_cast<void>(end.query());
    end.synchronize();
    EXPECT_GE(begin.elapsed_time(end), 0);
  }

  void allocate() {
    std::vector<at::Tensor> kept;
    for (int64_t i = below(20); i > 0; --i) {
      kept.push_back(at::empty({1 + below(100000)}, at::TensorOptions(current())));
    }
    if (below(20) == 0) {
      getDeviceAllocator()->emptyCache();
    }
  }

  void replay() {
    const at::Tensor x = at::zeros({1 + below(100)}, at::TensorOptions(current()));
    getCurrentStream().synchronize();
    OpenRegGraph graph;
    graph.capture_begin({0, 0}, at::GraphCaptureMode::ThreadLocal);
    for (int i = 0; i < 3; ++i) {
      x.add_(1);
    }
    graph.capture_end();
    const int64_t replays = below(4);
    for (int64_t i = 0; i < replays; ++i) {
      graph.replay();
    }
    check(x, static_cast<double>(3 * replays));
  }

  std::mt19937 random_;
  std::vector<OpenRegStream> streams_;  // by device
};

void profile_for(std::chrono::milliseconds time) {
  namespace profiler = torch::autograd::profiler;
  const profiler::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<torch::profiler::impl::ActivityType> activities{
      torch::profiler::impl::ActivityType::CPU, torch::profiler::impl::ActivityType::PrivateUse1};
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  std::this_thread::sleep_for(time);
  EXPECT_NE(profiler::disableProfiler(), nullptr);
}

TEST_F(SoakTest, ThreadsDevicesAndStreams) {
  const std::array before{allocated(0), allocated(1)};
  const auto end = std::chrono::steady_clock::now() + duration();
  std::atomic<int64_t> steps{0};
  std::deque<Worker> workers;
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < kThreads; ++number) {
    workers.emplace_back(number);
    threads.emplace_back([&steps, end, &worker = workers.back()] {
      do {
        worker.step();
        ++steps;
      } while (std::chrono::steady_clock::now() < end && !testing::Test::HasFailure());
    });
  }
  do {
    profile_for(std::chrono::milliseconds(duration()) / 10);
  } while (std::chrono::steady_clock::now() < end);
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (c10::DeviceIndex device = 0; device < 2; ++device) {
    device_synchronize(device);
    getDeviceAllocator()->emptyCache();
    EXPECT_EQ(allocated(device), before[static_cast<size_t>(device)]);
  }
  EXPECT_GE(steps.load(), int64_t{kThreads});
  RecordProperty("steps", std::to_string(steps.load()));
}

}  // namespace

}  // namespace openreg::test
