// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <set>
#include <string>

#include "test_support.h"

namespace {

TEST_F(DeviceTest, LastErrorIsKeptUntilTaken) {
  EXPECT_EQ(orSetDevice(-1), orErrorInvalidDevice);
  EXPECT_OK(orSetDevice(0));
  EXPECT_EQ(orPeekAtLastError(), orErrorInvalidDevice);
  EXPECT_EQ(orMemset(nullptr, 0, 1), orErrorInvalidValue);
  EXPECT_EQ(orGetLastError(), orErrorInvalidValue);
  EXPECT_EQ(orGetLastError(), orSuccess);
}

TEST_F(DeviceTest, LastErrorBelongsToTheThread) {
  std::thread([] { EXPECT_EQ(orSetDevice(-1), orErrorInvalidDevice); }).join();
  EXPECT_EQ(orPeekAtLastError(), orSuccess);
}

TEST_F(DeviceTest, WantedCallsOfAFunctionFail) {
  int device = -1;
  orDebugFailCall("orGetDevice", 1, 2, orErrorUnknown);
  EXPECT_OK(orSetDevice(0));
  EXPECT_OK(orGetDevice(&device));
  EXPECT_EQ(orGetDevice(&device), orErrorUnknown);
  EXPECT_EQ(orGetDevice(&device), orErrorUnknown);
  EXPECT_OK(orGetDevice(&device));
  EXPECT_EQ(orGetLastError(), orErrorUnknown);

  orDebugFailCall(nullptr, 0, -1, orErrorMemoryAllocation);
  EXPECT_EQ(orSetDevice(0), orErrorMemoryAllocation);
  EXPECT_EQ(orDeviceSynchronize(), orErrorMemoryAllocation);
  orDebugFailCall(nullptr, 0, 0, orSuccess);
  EXPECT_OK(orDeviceSynchronize());
  orGetLastError();
}

TEST_F(DeviceTest, EachErrorHasANameAndASentence) {
  std::set<std::string> names;
  std::set<std::string> sentences;
  for (int code = orSuccess; code <= orErrorCaptureInvalidated; ++code) {
    names.insert(orGetErrorName(static_cast<orError_t>(code)));
    sentences.insert(orGetErrorString(static_cast<orError_t>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(orErrorCaptureInvalidated) + 1);
  EXPECT_EQ(sentences.size(), static_cast<size_t>(orErrorCaptureInvalidated) + 1);
  EXPECT_STREQ(orGetErrorName(orErrorInvalidHandle), "orErrorInvalidHandle");
  EXPECT_STREQ(orGetErrorName(static_cast<orError_t>(15)), "unrecognized error code");
  EXPECT_STREQ(orGetErrorString(static_cast<orError_t>(15)), "unrecognized error code");
}

}  // namespace
