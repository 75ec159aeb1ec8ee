// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "test_support.h"

namespace {

TEST_F(DeviceTest, EventsHappenWhenTheStreamGetsThere) {
  OwnedStream stream;
  OwnedEvent event;
  EXPECT_OK(orEventQuery(event.get()));
  EXPECT_OK(orEventSynchronize(event.get()));
  {
    Gate gate(stream.get());
    ASSERT_OK(orEventRecord(event.get(), stream.get()));
    EXPECT_EQ(orEventQuery(event.get()), orErrorNotReady);
  }
  EXPECT_OK(orEventSynchronize(event.get()));
  EXPECT_OK(orEventQuery(event.get()));
}

TEST_F(DeviceTest, StreamsWaitForEventsOfOthers) {
  OwnedStream producer;
  OwnedStream consumer;
  OwnedEvent ready(orEventDisableTiming);
  int value = 0;
  int seen = -1;
  std::function<void()> produce = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    value = 42;
  };
  std::function<void()> consume = [&] { seen = value; };
  ASSERT_OK(run_on(producer.get(), produce));
  ASSERT_OK(orEventRecord(ready.get(), producer.get()));
  ASSERT_OK(orStreamWaitEvent(consumer.get(), ready.get()));
  ASSERT_OK(run_on(consumer.get(), consume));
  ASSERT_OK(orStreamSynchronize(consumer.get()));
  EXPECT_EQ(seen, 42);
}

TEST_F(DeviceTest, StreamsWaitAcrossDevices) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  OwnedStream producer;
  ASSERT_OK(orSetDevice(1));
  OwnedStream consumer;
  OwnedEvent ready;
  Gate gate(producer.get());
  ASSERT_OK(orEventRecord(ready.get(), producer.get()));
  ASSERT_OK(orStreamWaitEvent(consumer.get(), ready.get()));
  EXPECT_EQ(orStreamQuery(consumer.get()), orErrorNotReady);
  gate.open();
  EXPECT_OK(orStreamSynchronize(consumer.get()));
}

TEST_F(DeviceTest, WaitersKeepTheRecordTheySaw) {
  OwnedStream first;
  OwnedStream second;
  OwnedStream waiter;
  OwnedEvent event;
  Gate held(second.get());
  ASSERT_OK(orEventRecord(event.get(), first.get()));
  ASSERT_OK(orStreamWaitEvent(waiter.get(), event.get()));
  ASSERT_OK(orEventRecord(event.get(), second.get()));
  // The second record is held up; the waiter saw the first.
  EXPECT_OK(orStreamSynchronize(waiter.get()));
  EXPECT_EQ(orEventQuery(event.get()), orErrorNotReady);
}

TEST_F(DeviceTest, DestroyedEventsStillHoldUpTheirWaiters) {
  OwnedStream producer;
  OwnedStream consumer;
  Gate gate(producer.get());
  {
    OwnedEvent event;
    ASSERT_OK(orEventRecord(event.get(), producer.get()));
    ASSERT_OK(orStreamWaitEvent(consumer.get(), event.get()));
  }
  EXPECT_EQ(orStreamQuery(consumer.get()), orErrorNotReady);
  gate.open();
  EXPECT_OK(orStreamSynchronize(consumer.get()));
}

TEST_F(DeviceTest, ElapsedTimeIsMeasuredOnTheStream) {
  OwnedStream stream;
  OwnedEvent start;
  OwnedEvent end;
  std::function<void()> sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  ASSERT_OK(orEventRecord(start.get(), stream.get()));
  ASSERT_OK(run_on(stream.get(), sleep));
  ASSERT_OK(orEventRecord(end.get(), stream.get()));
  ASSERT_OK(orEventSynchronize(end.get()));
  float there = 0;
  float back = 0;
  ASSERT_OK(orEventElapsedTime(&there, start.get(), end.get()));
  ASSERT_OK(orEventElapsedTime(&back, end.get(), start.get()));
  EXPECT_GE(there, 49.0F);
  EXPECT_FLOAT_EQ(there, -back);
}

TEST_F(DeviceTest, ElapsedTimeNeedsTwoTimedEventsThatHappened) {
  OwnedStream stream;
  OwnedEvent recorded;
  OwnedEvent unrecorded;
  OwnedEvent untimed(orEventDisableTiming);
  OwnedEvent pending;
  float time = 0;
  ASSERT_OK(orEventRecord(recorded.get(), stream.get()));
  ASSERT_OK(orEventRecord(untimed.get(), stream.get()));
  ASSERT_OK(orStreamSynchronize(stream.get()));
  EXPECT_EQ(orEventElapsedTime(&time, recorded.get(), unrecorded.get()), orErrorInvalidHandle);
  EXPECT_EQ(orEventElapsedTime(&time, recorded.get(), untimed.get()), orErrorInvalidHandle);
  EXPECT_EQ(orEventElapsedTime(nullptr, recorded.get(), recorded.get()), orErrorInvalidValue);
  Gate gate(stream.get());
  ASSERT_OK(orEventRecord(pending.get(), stream.get()));
  EXPECT_EQ(orEventElapsedTime(&time, recorded.get(), pending.get()), orErrorNotReady);
}

TEST_F(DeviceTest, BadEventsAreErrors) {
  orEvent_t destroyed = nullptr;
  ASSERT_OK(orEventCreate(&destroyed));
  ASSERT_OK(orEventDestroy(destroyed));
  OwnedStream stream;
  OwnedEvent good;
  float time = 0;
  for (orEvent_t bad : {destroyed, static_cast<orEvent_t>(nullptr), reinterpret_cast<orEvent_t>(stream.get())}) {
    EXPECT_EQ(orEventDestroy(bad), orErrorInvalidHandle);
    EXPECT_EQ(orEventRecord(bad, stream.get()), orErrorInvalidHandle);
    EXPECT_EQ(orEventSynchronize(bad), orErrorInvalidHandle);
    EXPECT_EQ(orEventQuery(bad), orErrorInvalidHandle);
    EXPECT_EQ(orStreamWaitEvent(stream.get(), bad), orErrorInvalidHandle);
    EXPECT_EQ(orEventElapsedTime(&time, good.get(), bad), orErrorInvalidHandle);
  }
  orEvent_t event = nullptr;
  EXPECT_EQ(orEventCreate(nullptr), orErrorInvalidValue);
  EXPECT_EQ(orEventCreateWithFlags(&event, 8), orErrorInvalidValue);
}

}  // namespace
