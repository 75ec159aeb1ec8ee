// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <random>

#include "test_support.h"

namespace {

constexpr int kThreads = 4;

template <typename Body>
void on_threads(const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DeviceTest, ManyThreadsAllocateCopyAndFree) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  on_threads([&](int id) {
    EXPECT_OK(orSetDevice(id % count));
    std::minstd_rand random(static_cast<unsigned int>(id));
    OwnedStream stream(-(id % 2));
    for (int round = 0; round < 40; ++round) {
      const size_t size = 1 + random() % 100000;
      Buffer first(size);
      Buffer second(size);
      const std::vector<char> bytes = numbered(size, id + round);
      EXPECT_OK(orMemcpyAsync(first.get(), bytes.data(), size, orMemcpyHostToDevice, stream.get()));
      EXPECT_OK(orMemcpyAsync(second.get(), first.get(), size, orMemcpyDeviceToDevice, stream.get()));
      EXPECT_OK(orStreamSynchronize(stream.get()));
      EXPECT_EQ(fetch(second.get(), size), bytes);
    }
  });
}

TEST_F(DeviceTest, ManyThreadsShareAStream) {
  OwnedStream stream;
  Buffer counter(sizeof(long));
  ASSERT_OK(orMemset(counter.get(), 0, sizeof(long)));
  // Not atomic: the stream's order is what keeps it right.
  std::function<void()> add = [&] { ++*static_cast<long*>(counter.get()); };
  on_threads([&](int) {
    for (int i = 0; i < 250; ++i) {
      EXPECT_OK(run_on(stream.get(), add));
      if (i % 50 == 0) {
        EXPECT_OK(orStreamSynchronize(stream.get()));
      } else if (i % 5 == 0) {
        long seen = 0;
        EXPECT_OK(orMemcpyAsync(&seen, counter.get(), sizeof(seen), orMemcpyDeviceToHost, stream.get()));
        EXPECT_GT(seen, i);
      }
    }
  });
  ASSERT_OK(orStreamSynchronize(stream.get()));
  long result = 0;
  ASSERT_OK(orMemcpy(&result, counter.get(), sizeof(result), orMemcpyDeviceToHost));
  EXPECT_EQ(result, 1000);
}

TEST_F(DeviceTest, StreamsAndEventsComeAndGoFromManyThreads) {
  OwnedEvent shared;
  on_threads([&](int) {
    for (int i = 0; i < 50; ++i) {
      OwnedStream stream;
      OwnedEvent event;
      EXPECT_OK(orMemsetAsync(nullptr, 0, 0, stream.get()));
      EXPECT_OK(orEventRecord(event.get(), stream.get()));
      EXPECT_OK(orStreamWaitEvent(stream.get(), shared.get()));
      EXPECT_OK(orEventRecord(shared.get(), stream.get()));
      EXPECT_OK(orEventSynchronize(event.get()));
      const orError_t answer = orEventQuery(shared.get());
      EXPECT_TRUE(answer == orSuccess || answer == orErrorNotReady);
    }
  });
  EXPECT_OK(orDeviceSynchronize());
}

TEST_F(DeviceTest, AChainOfStreamsKeepsItsOrder) {
  constexpr int kLinks = 8;
  std::vector<OwnedStream> streams(kLinks);
  Buffer value(sizeof(int));
  ASSERT_OK(orMemset(value.get(), 0, sizeof(int)));
  OwnedEvent event;
  // Each step depends on the one before, in an order that no sum could hide.
  std::function<void()> triple = [&] { *static_cast<unsigned int*>(value.get()) *= 3; };
  std::function<void()> add = [&] { *static_cast<unsigned int*>(value.get()) += 1; };
  unsigned int expected = 0;
  for (int i = 0; i < 10 * kLinks; ++i) {
    const orStream_t stream = streams[static_cast<size_t>(i % kLinks)].get();
    ASSERT_OK(orStreamWaitEvent(stream, event.get()));
    ASSERT_OK(run_on(stream, i % 2 == 0 ? add : triple));
    ASSERT_OK(orEventRecord(event.get(), stream));
    expected = i % 2 == 0 ? expected + 1 : expected * 3;
  }
  ASSERT_OK(orEventSynchronize(event.get()));
  unsigned int result = 0;
  ASSERT_OK(orMemcpy(&result, value.get(), sizeof(result), orMemcpyDeviceToHost));
  EXPECT_EQ(result, expected);
}

}  // namespace
