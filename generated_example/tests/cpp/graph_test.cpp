// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#include "fixture.h"

#include <ATen/ops/ones.h>

#include "graphs/Graph.h"
#include "host/alias/Queue.h"
#include "runtime/DeviceErrors.h"
#include "runtime/MemPool.h"

namespace openreg::test {

namespace {

/// Begins a capture on a stream of its own; skips where the device has none.
class GraphTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    setCurrentStream(getStreamFromPool());
    try {
      OpenRegGraph graph;
      begin(graph);
      graph.reset();
    } catch (const c10::Error&) {
      GTEST_SKIP() << "the device, or its allocator, captures no streams";
    }
  }
  void TearDown() override {
    setCurrentStream(getDefaultStream(0));
  }
  static void begin(OpenRegGraph& graph, c10::MempoolId_t pool = {0, 0}) {
    graph.capture_begin(pool, at::GraphCaptureMode::Default);
  }
};

struct Counter {
  explicit Counter(std::atomic<int>& runs, std::atomic<int>& gone) : runs(runs), gone(gone) {}
  ~Counter() { ++gone; }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  void operator()() { ++runs; }
  std::atomic<int>& runs;
  std::atomic<int>& gone;
  c10::DeviceIndex device = -1;
};

TEST_F(GraphTest, ATaskWhoseLaunchFailsGoesOnce) {
  std::atomic<int> runs{0};
  std::atomic<int> gone{0};
  OpenRegGraph graph;
  begin(graph);
  report_kernel_error(0, "index 7 is out of bounds");
  EXPECT_THROW(native::queue(std::make_unique<Counter>(runs, gone)), c10::Error);
  EXPECT_EQ(gone, 0);
  graph.reset();
  EXPECT_EQ(gone, 1);
  EXPECT_EQ(runs, 0);
}

TEST_F(GraphTest, TasksRunWithEachReplayAndGoWithTheGraph) {
  std::atomic<int> runs{0};
  std::atomic<int> gone{0};
  OpenRegGraph graph;
  begin(graph);
  EXPECT_TRUE(is_current_stream_capturing());
  native::queue(std::make_unique<Counter>(runs, gone));
  graph.capture_end();
  EXPECT_FALSE(is_current_stream_capturing());
  for (int i = 0; i < 3; ++i) {
    graph.replay();
  }
  device_synchronize();
  EXPECT_EQ(runs.load(), 3);
  EXPECT_EQ(gone.load(), 0);
  graph.reset();
  EXPECT_EQ(gone.load(), 1);
}

TEST_F(GraphTest, TasksOfACaptureThatFailedGo) {
  std::atomic<int> runs{0};
  std::atomic<int> gone{0};
  OpenRegGraph graph;
  begin(graph);
  native::queue(std::make_unique<Counter>(runs, gone));
  EXPECT_THROW(getCurrentStream().synchronize(), c10::AcceleratorError);
  EXPECT_THROW(graph.capture_end(), c10::AcceleratorError);
  EXPECT_EQ(gone.load(), 1);
  EXPECT_EQ(runs.load(), 0);
  EXPECT_THROW(graph.replay(), c10::Error);
  begin(graph);
  graph.capture_end();
}

TEST_F(GraphTest, ThePoolIsTheGraphsUntilItIsReset) {
  const c10::MempoolId_t pool = new_graph_pool();
  OpenRegGraph first;
  OpenRegGraph second;
  for (OpenRegGraph* graph : {&first, &second}) {
    begin(*graph, pool);
    graph->capture_end();
    EXPECT_EQ(graph->pool(), pool);
  }
  EXPECT_EQ(current_pools().getPoolUseCount(0, pool), 2);
  first.reset();
  EXPECT_EQ(current_pools().getPoolUseCount(0, pool), 1);
  EXPECT_THROW(first.pool(), c10::Error);
  second.reset();
  EXPECT_EQ(current_pools().getPoolUseCount(0, pool), 0);
}

TEST_F(GraphTest, DrawsTakeTheirNumbersAtTheReplay) {
  const at::Generator& generator = getDefaultGenerator();
  OpenRegGraph graph;
  begin(graph);
  const uint64_t before = philox_state_of(generator, 0)->offset;
  const CapturedDraw first = captured_draw(std::nullopt, 0, 5);
  const CapturedDraw second = captured_draw(std::nullopt, 0, 4);
  EXPECT_EQ(philox_state_of(generator, 0)->offset, before);
  EXPECT_THROW(generator.get<OpenRegGeneratorImpl>()->philox_engine_inputs(4), c10::AcceleratorError);
  EXPECT_THROW(graph.capture_end(), c10::AcceleratorError);
  begin(graph);
  const CapturedDraw third = captured_draw(std::nullopt, 0, 5);
  const CapturedDraw fourth = captured_draw(std::nullopt, 0, 4);
  graph.capture_end();
  for (uint64_t replay = 0; replay < 2; ++replay) {
    graph.replay();
    device_synchronize();
    EXPECT_EQ(third.get().first, generator.current_seed());
    EXPECT_EQ(third.get().second, before + replay * 12);
    EXPECT_EQ(fourth.get().second, before + replay * 12 + 8);
  }
  EXPECT_EQ(second.get().second, 8U);
  EXPECT_EQ(first.get().second, 0U);
}

}  // namespace

}  // namespace openreg::test
