// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <c10/util/Exception.h>

#include "fixture.h"

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
  report_kernel_error("index 7 is out of bounds");
  report_kernel_error("another one, which nobody is told");
  try {
    OPENREG_CHECK(give(orSuccess));
    FAIL() << "nothing was thrown";
  } catch (const c10::AcceleratorError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(contains(message, "index 7 is out of bounds")) << message;
    EXPECT_TRUE(contains(message, "what it was to write is undefined")) << message;
  }
  EXPECT_NO_THROW(OPENREG_CHECK(give(orSuccess)));
}

TEST(ExceptionDeathTest, AfterAnythingElseTheDeviceIsOfNoMoreUse) {
  const auto fails_twice = [] {
    report_kernel_error("index 7 is out of bounds");
    report_device_error("nobody knows what");
    for (int i = 0; i < 2; ++i) {
      try {
        OPENREG_CHECK(give(orSuccess));
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
