// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <utility>

#include <c10/core/Event.h>

#include "fixture.h"
#include "runtime/Event.h"

namespace openreg::test {

namespace {

TEST_F(DeviceTest, UnrecordedEventIsDoneAndCostsNothing) {
  const OpenRegEvent event;
  EXPECT_FALSE(event.is_created());
  EXPECT_TRUE(event.query());
  EXPECT_NO_THROW(event.synchronize());
  EXPECT_NO_THROW(event.block(getDefaultStream()));
}

TEST_F(DeviceTest, EventIsDoneOnceTheStreamPassedIt) {
  Gate gate;
  const OpenRegStream stream = getStreamFromPool();
  OPENREG_HOLD_OR_SKIP(gate, stream);
  OpenRegEvent event;
  event.record(stream);
  EXPECT_FALSE(event.query());
  gate.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
}

TEST_F(DeviceTest, AnotherStreamWaitsForTheEvent) {
  const OpenRegStream first = getStreamFromPool();
  const OpenRegStream second = getStreamFromPool();
  ASSERT_NE(first, second);
  OpenRegEvent event;
  Gate gate;
  OPENREG_HOLD_OR_SKIP(gate, first);
  event.record(first);
  event.block(second);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(second.query());
  gate.open();
  second.synchronize();
  EXPECT_TRUE(event.query());
}

TEST_F(DeviceTest, ElapsedTimeIsInMilliseconds) {
  const OpenRegStream stream = getStreamFromPool();
  OpenRegEvent start(true);
  OpenRegEvent end(true);
  Gate gate;
  start.record(stream);
  OPENREG_HOLD_OR_SKIP(gate, stream);
  end.record(stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  gate.open();
  end.synchronize();
  EXPECT_GE(start.elapsed_time(end), 20);
  EXPECT_LT(start.elapsed_time(end), 30000);
}

TEST_F(DeviceTest, ElapsedTimeNeedsTimedAndRecordedEvents) {
  const OpenRegEvent unrecorded(true);
  OpenRegEvent untimed;
  untimed.record(getDefaultStream());
  EXPECT_THROW(unrecorded.elapsed_time(unrecorded), c10::Error);
  EXPECT_THROW(untimed.elapsed_time(untimed), c10::Error);
}

TEST_F(DeviceTest, EventMoves) {
  OpenRegEvent event;
  event.record(getDefaultStream());
  const orEvent_t handle = event.event();
  OpenRegEvent moved(std::move(event));
  EXPECT_EQ(moved.event(), handle);
  OpenRegEvent assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.event(), handle);
  assigned.synchronize();
}

TEST_F(DeviceTest, GenericEventGoesThroughTheGuard) {
  Gate gate;
  const OpenRegStream stream = getStreamFromPool();
  OPENREG_HOLD_OR_SKIP(gate, stream);
  c10::Event event(c10::DeviceType::PrivateUse1, c10::EventFlag::BACKEND_DEFAULT);
  EXPECT_TRUE(event.query());
  event.record(stream);
  EXPECT_FALSE(event.query());
  const OpenRegStream second = getStreamFromPool();
  event.block(second);
  EXPECT_FALSE(second.query());
  gate.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
  c10::Event end(c10::DeviceType::PrivateUse1, c10::EventFlag::BACKEND_DEFAULT);
  end.record(stream);
  end.synchronize();
  EXPECT_GE(event.elapsedTime(end), 0);
}

TEST_F(TwoDevicesTest, EventStaysOnItsDevice) {
  OpenRegEvent event;
  event.record(getDefaultStream(0));
  EXPECT_THROW(event.record(getDefaultStream(1)), c10::Error);
}

TEST_F(TwoDevicesTest, StreamOfAnotherDeviceWaits) {
  Gate gate;
  const OpenRegStream first = getStreamFromPool(0, 0);
  const OpenRegStream second = getStreamFromPool(0, 1);
  OPENREG_HOLD_OR_SKIP(gate, first);
  OpenRegEvent event;
  event.record(first);
  event.block(second);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(second.query());
  gate.open();
  second.synchronize();
  EXPECT_TRUE(event.query());
}

}  // namespace

}  // namespace openreg::test
