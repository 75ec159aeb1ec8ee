// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "test_support.h"

#if defined(__SANITIZE_THREAD__)
#define SKIP_UNDER_TSAN() GTEST_SKIP() << "ThreadSanitizer does not follow a forked child of many threads"
#else
#define SKIP_UNDER_TSAN() static_cast<void>(0)
#endif

namespace {

// What the child answers is its exit code: the number of the first check that failed, else 0.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

TEST_F(DeviceTest, AForkedChildGetsErrorsInsteadOfHanging) {
  SKIP_UNDER_TSAN();
  Buffer buffer(16);
  PinnedBuffer pinned(16);
  OwnedStream stream;
  OwnedEvent event;
  ASSERT_OK(orEventRecord(event.get(), stream.get()));
  ASSERT_OK(orDeviceSynchronize());
  const int failed = in_child([&] {
    const auto forked = orErrorForked;
    void* pointer = nullptr;
    size_t size = 0;
    orPointerAttributes attributes;
    if (orMalloc(&pointer, 16) != forked) return 1;
    if (orFree(buffer.get()) != forked) return 2;
    if (orMallocHost(&pointer, 16) != forked) return 3;
    if (orFreeHost(pinned.bytes()) != forked) return 4;
    if (orMemcpy(pinned.bytes(), buffer.get(), 16, orMemcpyDeviceToHost) != forked) return 5;
    if (orStreamSynchronize(stream.get()) != forked) return 6;
    if (orEventSynchronize(event.get()) != forked) return 7;
    if (orDeviceSynchronize() != forked) return 8;
    if (orMemGetInfo(&size, &size) != forked) return 9;
    if (orPointerGetAttributes(&attributes, buffer.get()) != forked) return 10;
    if (orGetLastError() != forked) return 11;
    int count = 0;
    if (orGetDeviceCount(&count) != orSuccess || count == 0) return 12;
    if (orSetDevice(0) != orSuccess) return 13;
    return 0;
  });
  EXPECT_EQ(failed, 0);
}

TEST_F(DeviceTest, AForkedChildExitsCleanly) {
  SKIP_UNDER_TSAN();
  Buffer buffer(16);
  ASSERT_OK(orMemset(buffer.get(), 0, 16));
  const pid_t child = fork();
  // exit(), not _exit(): handlers and static destructors run.
  if (child == 0) std::exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// The tests below need a process that has not used the device yet: a new one ("threadsafe").
class ProcessDeathTest : public DeviceTest {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    orGetLastError();
  }
  void TearDown() override {}
};

TEST_F(ProcessDeathTest, AChildForkedBeforeTheFirstUseCanUseTheDevice) {
  SKIP_UNDER_TSAN();
  EXPECT_EXIT(
      {
        int count = 0;
        orGetDeviceCount(&count);
        std::exit(in_child([] {
          void* pointer = nullptr;
          if (orMalloc(&pointer, 16) != orSuccess) return 1;
          if (orMemset(pointer, 0, 16) != orSuccess) return 2;
          return orFree(pointer) == orSuccess ? 0 : 3;
        }));
      },
      testing::ExitedWithCode(0), "");
}

void slow_kernel(void*) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::fputs("the kernel finished", stderr);
}

TEST_F(ProcessDeathTest, ExitFinishesWhatIsQueued) {
  EXPECT_EXIT(
      {
        orLaunchKernel(nullptr, slow_kernel, nullptr);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "the kernel finished");
}

// Destroyed after the exit handlers ran, as the statics of libraries loaded earlier are.
struct LateUser {
  void* pointer = nullptr;
  ~LateUser() {
    if (pointer == nullptr) return;
    const bool good = orMemset(pointer, 1, 16) == orSuccess && orFree(pointer) == orSuccess;
    std::fputs(good ? "late use is fine" : "late use failed", stderr);
  }
};

TEST_F(ProcessDeathTest, StaticDestructorsMayStillUseTheDevice) {
  EXPECT_EXIT(
      {
        static LateUser user;
        orMalloc(&user.pointer, 16);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "late use is fine");
}

TEST_F(ProcessDeathTest, NoDevicesAreNoCrash) {
  EXPECT_EXIT(
      {
        setenv("OPENREG_DEVICE_COUNT", "0", 1);
        int value = -1;
        void* pointer = nullptr;
        orStream_t stream = nullptr;
        const auto none = orErrorInvalidDevice;
        const bool good = orGetDeviceCount(&value) == orSuccess && value == 0 && orGetDevice(&value) == none &&
            orSetDevice(0) == none && orMalloc(&pointer, 1) == none && orMallocHost(&pointer, 1) == none &&
            orStreamCreate(&stream) == none && orDeviceSynchronize() == none && orStreamQuery(nullptr) == none;
        std::exit(good ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ProcessDeathTest, VisibleDevicesAreCountedAsCudaCountsThem) {
  const std::pair<const char*, int> cases[] = {
      {"0", 1},
      {"2,0", 2},
      {" 3 , 1,0,2", 4},
      {"", 0},
      {"-1", 0},
      {"0,-1,1", 1},
      {"1,0,4,2", 2},
      {"all", 0},
      {"1,,2", 1},
      {"0,1x,2", 1},
      {"1,0,1", 0},
      {"2,", 1},
  };
  for (const auto& [visible, expected] : cases) {
    EXPECT_EXIT(
        {
          setenv("OPENREG_DEVICE_COUNT", "4", 1);
          setenv("OPENREG_VISIBLE_DEVICES", visible, 1);
          int count = -1;
          orGetDeviceCount(&count);
          const bool good = orSetDevice(count) == orErrorInvalidDevice && (count == 0 || orSetDevice(count - 1) == orSuccess);
          std::exit(good ? count : 100);
        },
        testing::ExitedWithCode(expected), "")
        << visible;
  }
}

TEST_F(ProcessDeathTest, SenselessSettingsAreSaidAndIgnored) {
  EXPECT_EXIT(
      {
        setenv("OPENREG_DEVICE_COUNT", "many", 1);
        int count = -1;
        orGetDeviceCount(&count);
        std::exit(count);
      },
      testing::ExitedWithCode(2), "OPENREG_DEVICE_COUNT=many is not a number");
}

}  // namespace
