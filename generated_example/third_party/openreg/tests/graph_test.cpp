// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "test_support.h"

// Streams that are captured into graphs, and what graphs do.
namespace {

class GraphTest : public DeviceTest {
 protected:
  void begin(orCaptureMode mode = orCaptureModeGlobal) { ASSERT_OK(orStreamBeginCapture(stream.get(), mode)); }
  orGraph_t end() {
    orGraph_t graph = nullptr;
    EXPECT_OK(orStreamEndCapture(stream.get(), &graph));
    return graph;
  }
  orCaptureStatus status(orStream_t of) {
    orCaptureStatus found = orCaptureStatusNone;
    EXPECT_OK(orStreamGetCaptureInfo(of, &found, nullptr));
    return found;
  }
  void launch(orGraph_t graph) {
    ASSERT_OK(orGraphLaunch(graph, stream.get()));
    ASSERT_OK(orStreamSynchronize(stream.get()));
  }
  size_t size(orGraph_t graph) {
    size_t count = 0;
    EXPECT_OK(orGraphGetNodeCount(graph, &count));
    return count;
  }
  OwnedStream stream;
};

TEST_F(GraphTest, RunsWhenItIsLaunchedAndOnlyThen) {
  std::vector<int> order;
  std::vector<std::function<void()>> kernels;
  for (int i = 0; i < 100; ++i) kernels.push_back([&order, i] { order.push_back(i); });
  begin();
  EXPECT_EQ(status(stream.get()), orCaptureStatusActive);
  for (auto& kernel : kernels) ASSERT_OK(run_on(stream.get(), kernel));
  orGraph_t graph = end();
  EXPECT_EQ(status(stream.get()), orCaptureStatusNone);
  ASSERT_OK(orStreamSynchronize(stream.get()));
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(size(graph), 100U);
  launch(graph);
  launch(graph);
  ASSERT_EQ(order.size(), 200U);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<int>(i % 100));
  ASSERT_OK(orGraphDestroy(graph));
  EXPECT_EQ(orGraphLaunch(graph, stream.get()), orErrorInvalidHandle);
}

TEST_F(GraphTest, CopiesReadWhatIsThereWhenTheyRun) {
  Buffer from(64);
  Buffer to(64);
  begin();
  ASSERT_OK(orMemcpyAsync(to.get(), from.get(), 64, orMemcpyDeviceToDevice, stream.get()));
  orGraph_t graph = end();
  for (const int value : {3, 7}) {
    ASSERT_OK(orMemset(from.get(), value, 64));
    launch(graph);
    EXPECT_EQ(fetch(to.get(), 64), std::vector<char>(64, static_cast<char>(value)));
  }
  ASSERT_OK(orGraphDestroy(graph));
}

TEST_F(GraphTest, OtherStreamsForkAndJoinByEvents) {
  OwnedStream other;
  OwnedEvent fork;
  OwnedEvent join;
  std::vector<int> order;
  std::vector<std::function<void()>> kernels;
  for (int i = 0; i < 3; ++i) kernels.push_back([&order, i] { order.push_back(i); });
  begin();
  ASSERT_OK(run_on(stream.get(), kernels[0]));
  ASSERT_OK(orEventRecord(fork.get(), stream.get()));
  ASSERT_OK(orStreamWaitEvent(other.get(), fork.get()));
  EXPECT_EQ(status(other.get()), orCaptureStatusActive);
  ASSERT_OK(run_on(other.get(), kernels[1]));
  ASSERT_OK(orEventRecord(join.get(), other.get()));
  ASSERT_OK(orStreamWaitEvent(stream.get(), join.get()));
  ASSERT_OK(run_on(stream.get(), kernels[2]));
  orGraph_t graph = end();
  EXPECT_EQ(status(other.get()), orCaptureStatusNone);
  launch(graph);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  // An event of a capture says nothing once that has ended.
  EXPECT_EQ(orStreamWaitEvent(other.get(), fork.get()), orErrorInvalidHandle);
  ASSERT_OK(orGraphDestroy(graph));
}

TEST_F(GraphTest, WorkThatIsNotJoinedFailsTheCapture) {
  OwnedStream other;
  OwnedEvent fork;
  std::function<void()> nothing = [] {};
  begin();
  ASSERT_OK(orEventRecord(fork.get(), stream.get()));
  ASSERT_OK(orStreamWaitEvent(other.get(), fork.get()));
  ASSERT_OK(run_on(other.get(), nothing));
  orGraph_t graph = nullptr;
  EXPECT_EQ(orStreamEndCapture(stream.get(), &graph), orErrorCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status(stream.get()), orCaptureStatusNone);
  EXPECT_OK(orStreamSynchronize(other.get()));
}

TEST_F(GraphTest, WaitingInvalidates) {
  Buffer buffer(8);
  std::vector<char> host(8);
  OwnedEvent event;
  const std::vector<std::function<orError_t()>> calls{
      [&] { return orStreamSynchronize(stream.get()); },
      [&] { return orStreamQuery(stream.get()); },
      [&] { return orDeviceSynchronize(); },
      [&] { return orEventSynchronize(event.get()); },
      [&] { return orEventQuery(event.get()); },
      [&] { return orMemcpyAsync(host.data(), buffer.get(), 8, orMemcpyDeviceToHost, stream.get()); }};
  for (size_t i = 0; i < calls.size(); ++i) {
    begin();
    ASSERT_OK(orEventRecord(event.get(), stream.get()));
    EXPECT_EQ(calls[i](), orErrorCaptureUnsupported) << i;
    EXPECT_EQ(status(stream.get()), orCaptureStatusInvalidated) << i;
    orGraph_t graph = nullptr;
    EXPECT_EQ(orStreamEndCapture(stream.get(), &graph), orErrorCaptureInvalidated) << i;
    EXPECT_OK(orStreamSynchronize(stream.get()));
  }
}

TEST_F(GraphTest, OnlyEventsOfTheCaptureCanBeWaitedFor) {
  OwnedStream other;
  OwnedEvent event;
  ASSERT_OK(orEventRecord(event.get(), other.get()));
  ASSERT_OK(orStreamSynchronize(other.get()));
  begin();
  EXPECT_EQ(orStreamWaitEvent(stream.get(), event.get()), orErrorCaptureUnsupported) << "also if it has happened";
  orGraph_t graph = nullptr;
  EXPECT_EQ(orStreamEndCapture(stream.get(), &graph), orErrorCaptureInvalidated);
}

TEST_F(GraphTest, ModesSayWhoMayWait) {
  const auto synchronize_elsewhere = [] {
    orError_t error = orSuccess;
    std::thread([&] { error = orDeviceSynchronize(); }).join();
    return error;
  };
  begin(orCaptureModeThreadLocal);
  EXPECT_OK(synchronize_elsewhere());
  EXPECT_EQ(orDeviceSynchronize(), orErrorCaptureUnsupported);
  orGraph_t graph = nullptr;
  EXPECT_EQ(orStreamEndCapture(stream.get(), &graph), orErrorCaptureInvalidated);
  begin(orCaptureModeRelaxed);
  EXPECT_OK(orDeviceSynchronize());
  ASSERT_OK(orGraphDestroy(end()));
  begin(orCaptureModeGlobal);
  EXPECT_EQ(synchronize_elsewhere(), orErrorCaptureUnsupported);
  EXPECT_EQ(orStreamEndCapture(stream.get(), &graph), orErrorCaptureInvalidated);
}

TEST_F(GraphTest, KeepsWhatItIsGiven) {
  static int released = 0;
  released = 0;
  int object = 0;
  std::function<void()> nothing = [] {};
  begin();
  ASSERT_OK(run_on(stream.get(), nothing));
  ASSERT_OK(orStreamCaptureRetain(stream.get(), &object, [](void*) { ++released; }));
  orGraph_t graph = end();
  launch(graph);
  EXPECT_EQ(released, 0);
  Gate gate(stream.get());
  ASSERT_OK(orGraphLaunch(graph, stream.get()));
  ASSERT_OK(orGraphDestroy(graph));
  EXPECT_EQ(released, 0) << "what was launched still runs";
  gate.open();
  ASSERT_OK(orStreamSynchronize(stream.get()));
  EXPECT_EQ(released, 1);
}

TEST_F(GraphTest, ActivitiesOfEachPart) {
  Buffer buffer(8);
  std::function<void()> nothing = [] {};
  begin();
  ASSERT_OK(orActivityName("first"));
  ASSERT_OK(run_on(stream.get(), nothing));
  ASSERT_OK(orMemsetAsync(buffer.get(), 0, 8, stream.get()));
  orGraph_t graph = end();
  std::vector<orActivity> found(8);
  size_t count = 0;
  size_t lost = 0;
  ASSERT_OK(orActivityEnable(1));
  launch(graph);
  ASSERT_OK(orActivityEnable(0));
  ASSERT_OK(orActivityRead(found.data(), found.size(), &count, &lost));
  ASSERT_EQ(count, 2U);
  EXPECT_STREQ(found[0].name, "first");
  EXPECT_EQ(found[1].kind, orActivityMemset);
  EXPECT_EQ(found[1].bytes, 8U);
  EXPECT_EQ(found[0].replayed, 1);
  EXPECT_GE(found[1].start, found[0].end);
  ASSERT_OK(orGraphDestroy(graph));
}

TEST_F(GraphTest, IsWrittenToAFile) {
  std::function<void()> nothing = [] {};
  begin();
  ASSERT_OK(run_on(stream.get(), nothing));
  orGraph_t graph = end();
  const std::string path = std::filesystem::temp_directory_path() / ("graph" + std::to_string(getpid()) + ".dot");
  ASSERT_OK(orGraphDebugPrint(graph, path.c_str()));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("kernel"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_EQ(orGraphDebugPrint(graph, "/nowhere/graph.dot"), orErrorInvalidValue);
  ASSERT_OK(orGraphDestroy(graph));
}

TEST_F(GraphTest, BadArgumentsAreRefused) {
  orGraph_t graph = nullptr;
  size_t count = 0;
  EXPECT_EQ(orStreamEndCapture(stream.get(), &graph), orErrorInvalidValue) << "nothing began";
  EXPECT_EQ(orStreamCaptureRetain(stream.get(), nullptr, [](void*) {}), orErrorInvalidValue);
  EXPECT_EQ(orStreamBeginCapture(stream.get(), static_cast<orCaptureMode>(3)), orErrorInvalidValue);
  EXPECT_EQ(orGraphLaunch(nullptr, stream.get()), orErrorInvalidHandle);
  EXPECT_EQ(orGraphDestroy(nullptr), orErrorInvalidHandle);
  EXPECT_EQ(orGraphGetNodeCount(nullptr, &count), orErrorInvalidHandle);
  begin();
  EXPECT_EQ(orStreamBeginCapture(stream.get(), orCaptureModeGlobal), orErrorCaptureUnsupported);
  ASSERT_OK(orGraphDestroy(end()));
}

}  // namespace
