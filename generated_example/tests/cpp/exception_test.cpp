// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <c10/util/Exception.h>

#include "fixture.h"
#include "runtime/DeviceErrors.h"
#include "runtime/Event.h"

namespace openreg::test {

namespace {

orError_t give(orError_t error) {
  return error;
}

TEST(Exception, SuccessPasses) {
  EXPECT_NO_THROW(OPENREG_CHECK(give(orSuccess)));
}

TEST(Exception, CheckThrowsWithCodeCallAndPlace) {
  try {
    OPENREG_CHECK(give(orErrorInvalidHandle));
    FAIL() << "nothing was thrown";
  } catch (const c10::AcceleratorError& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.get_error_code(), orErrorInvalidHandle);
    EXPECT_TRUE(contains(message, "orErrorInvalidHandle")) << message;
    EXPECT_TRUE(contains(message, "give(orErrorInvalidHandle)")) << message;
    EXPECT_TRUE(contains(message, "exception_test.cpp:")) << message;
  }
}

TEST(Exception, LackOfMemoryHasATypeOfItsOwn) {
  EXPECT_THROW(OPENREG_CHECK(give(orErrorMemoryAllocation)), c10::OutOfMemoryError);
}

TEST(Exception, CheckClearsTheLastError) {
  EXPECT_THROW(OPENREG_CHECK(orSetDevice(-7)), c10::AcceleratorError);
  EXPECT_EQ(orPeekAtLastError(), orSuccess);
}

TEST(Exception, WhatAKernelFoundWrongIsToldOnce) {
  report_kernel_error(0, "index 7 is out of bounds");
  report_kernel_error(0, "another one, which is not reported");
  EXPECT_NO_THROW(OPENREG_CHECK(give(orSuccess))) << "only launches and synchronizations report it";
  EXPECT_NO_THROW(OPENREG_CHECK_WAIT(1, give(orSuccess))) << "another device has nothing to do with it";
  try {
    OPENREG_CHECK_WAIT(0, give(orSuccess));
    FAIL() << "nothing was thrown";
  } catch (const c10::AcceleratorError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(contains(message, "index 7 is out of bounds")) << message;
    EXPECT_TRUE(contains(message, "on device 0 failed")) << message;
    EXPECT_TRUE(contains(message, "what it was to write is undefined")) << message;
  }
  EXPECT_NO_THROW(OPENREG_CHECK_WAIT(0, give(orSuccess)));
}

TEST(Exception, AFailedCallIsNotTakenForAFailedFunction) {
  report_kernel_error(0, "index 7 is out of bounds");
  EXPECT_THROW(OPENREG_CHECK_WAIT(0, give(orErrorMemoryAllocation)), c10::OutOfMemoryError);
  EXPECT_THROW(OPENREG_CHECK_WAIT(0, give(orSuccess)), c10::AcceleratorError);
}

class DeviceErrorTest : public TwoDevicesTest {};

TEST_F(DeviceErrorTest, ALaunchTellsItsOwnDevicesBeforeTheCall) {
  report_kernel_error(1, "index 7 is out of bounds");
  EXPECT_NO_THROW(OPENREG_CHECK_LAUNCH(give(orSuccess)));
  EXPECT_NO_THROW(device_synchronize(0));
  const OpenRegGuard guard(1);
  bool called = false;
  const auto call = [&] {
    called = true;
    return orSuccess;
  };
  EXPECT_THROW(OPENREG_CHECK_LAUNCH(call()), c10::AcceleratorError);
  EXPECT_FALSE(called);
  EXPECT_NO_THROW(OPENREG_CHECK_LAUNCH(call()));
  EXPECT_TRUE(called);
}

TEST_F(DeviceErrorTest, GuardsQueriesAndMemoryTellNothing) {
  report_kernel_error(1, "index 7 is out of bounds");
  const OpenRegStream stream = getDefaultStream(1);
  {
    const OpenRegGuard guard(1);
    EXPECT_EQ(current_device(), 1);
    OpenRegEvent event;
    event.record(stream);
    event.block(getDefaultStream(0));
    EXPECT_NO_THROW(static_cast<void>(event.query()));
    EXPECT_NO_THROW(static_cast<void>(stream.query()));
    getDeviceAllocator()->allocate(64).clear();
    getDeviceAllocator()->emptyCache();
  }
  EXPECT_THROW(stream.synchronize(), c10::AcceleratorError);
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_F(DeviceErrorTest, WaitingForAnEventTellsItsDevices) {
  const OpenRegGuardImpl impl;
  for (const c10::DeviceIndex waits : {0, 1}) {
    void* event = nullptr;
    impl.record(&event, getDefaultStream(1), -1, c10::EventFlag::PYTORCH_DEFAULT);
    report_kernel_error(1, "index 7 is out of bounds");
    const OpenRegGuard guard(waits);
    EXPECT_THROW(impl.synchronizeEvent(event), c10::AcceleratorError) << "on device " << int{waits};
    report_kernel_error(0, "index 8 is out of bounds");
    EXPECT_NO_THROW(impl.synchronizeEvent(event));
    EXPECT_THROW(device_synchronize(0), c10::AcceleratorError);
    impl.destroyEvent(event, 1);
  }
}

TEST(Exception, NeverThrowWarns) {
  EXPECT_NO_THROW(never_throw("the test ran", [] { throw 7; }));
  EXPECT_NO_THROW(never_throw("the test ran", [] { TORCH_CHECK(false, "no"); }));
}

TEST(ExceptionDeathTest, AfterAnythingElseTheDeviceIsOfNoMoreUse) {
  const auto fails_twice = [] {
    report_kernel_error(0, "index 7 is out of bounds");
    report_device_error(0, "nobody knows what");
    for (int i = 0; i < 2; ++i) {
      try {
        OPENREG_CHECK_WAIT(0, give(orSuccess));
      } catch (const c10::AcceleratorError& error) {
        std::fputs(error.what_without_backtrace(), stderr);
      }
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(fails_twice(), testing::ExitedWithCode(0), "nobody knows what.*of no more use.*nobody knows what");
}

struct Handler final : c10::WarningHandler {
  void process(const c10::Warning& warning) override {
    messages.push_back(warning.msg());
    if (strict) {
      throw std::runtime_error("warnings are errors");
    }
  }
  std::vector<std::string> messages;
  bool strict = false;
};

TEST(Exception, WarnWarnsAndGoesOn) {
  Handler handler;
  const c10::WarningUtils::WarningHandlerGuard guard(&handler);
  OPENREG_WARN(give(orSuccess));
  EXPECT_TRUE(handler.messages.empty());
  OPENREG_WARN(give(orErrorInvalidValue));
  ASSERT_EQ(handler.messages.size(), 1U);
  EXPECT_TRUE(contains(handler.messages[0], "orErrorInvalidValue")) << handler.messages[0];
}

TEST(Exception, WarnNeverThrows) {
  Handler handler;
  handler.strict = true;
  const c10::WarningUtils::WarningHandlerGuard guard(&handler);
  EXPECT_NO_THROW(OPENREG_WARN(give(orErrorInvalidValue)));
  EXPECT_EQ(handler.messages.size(), 1U);
}

}  // namespace

}  // namespace openreg::test
