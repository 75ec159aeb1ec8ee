// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "test_support.h"

// Under a sanitizer, the tool ends the process in its own way after our message.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EXPECT_SEGFAULT(statement, message) EXPECT_DEATH(statement, message)
#else
#define EXPECT_SEGFAULT(statement, message) EXPECT_EXIT(statement, testing::KilledBySignal(SIGSEGV), message)
#endif

namespace {

bool isolation_is_off() {
  const char* mode = std::getenv("OPENREG_ISOLATION");
  return mode != nullptr && std::string_view(mode) == "off";
}

// Death tests run this in a new process each ("threadsafe"): a forked one could not use the device.
class IsolationDeathTest : public DeviceTest {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    if (isolation_is_off()) GTEST_SKIP() << "isolation is off";
    DeviceTest::SetUp();
  }
};

// An idle device closes its memory by itself, as soon as its thread gets to it.
void write_until_closed(void* memory) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *static_cast<volatile char*>(memory) = 2;
  }
}

TEST_F(IsolationDeathTest, HostReadsDie) {
  Buffer buffer(4096);
  const volatile char* address = buffer.bytes() + 17;
  EXPECT_SEGFAULT(static_cast<void>(*address),
      "openreg: host code touched device memory at 0x[0-9a-f]+ .device 0, inside an allocation of 4096 bytes."
      "; copy it with orMemcpy");
}

TEST_F(IsolationDeathTest, HostWritesDieAfterTheDeviceUsedTheMemory) {
  Buffer buffer(100);
  OwnedStream stream;
  const auto touch = [&](auto&& synchronize, orStream_t on) {
    EXPECT_OK(orMemsetAsync(buffer.get(), 1, 100, on));
    synchronize();
    *static_cast<volatile char*>(buffer.get()) = 2;
  };
  const char* message = "touched device memory .*an allocation of 100 bytes";
  const auto poll = [&] {
    while (orStreamQuery(stream.get()) != orSuccess) std::this_thread::yield();
  };
  const auto wait_for_event = [&] {
    OwnedEvent event;
    EXPECT_OK(orEventRecord(event.get(), stream.get()));
    EXPECT_OK(orEventSynchronize(event.get()));
  };
  EXPECT_SEGFAULT(touch([&] { EXPECT_OK(orStreamSynchronize(stream.get())); }, stream.get()), message);
  EXPECT_SEGFAULT(touch([&] { EXPECT_OK(orDeviceSynchronize()); }, stream.get()), message);
  EXPECT_SEGFAULT(touch(poll, stream.get()), message);
  EXPECT_SEGFAULT(touch([&] { fetch(buffer.get(), 100); }, nullptr), message);
  EXPECT_SEGFAULT(touch(wait_for_event, stream.get()), message);
  // Nobody synchronizes.
  EXPECT_SEGFAULT(touch([&] { write_until_closed(buffer.get()); }, stream.get()), message);
}

TEST_F(IsolationDeathTest, MemoryThatIsOpenedOftenIsClosedWhenTheDeviceIsIdle) {
  Buffer buffer(size_t{80} << 20);
  for (int i = 0; i < 20; ++i) {
    EXPECT_OK(orMemset(buffer.get(), 1, size_t{80} << 20));
    EXPECT_OK(orStreamSynchronize(nullptr));
  }
  EXPECT_SEGFAULT(write_until_closed(buffer.get()), "touched device memory");
}

TEST_F(IsolationDeathTest, SmallCopiesOpenNothing) {
  Buffer buffer(100);
  EXPECT_EQ(fetch(buffer.get(), 100).size(), 100U);
  EXPECT_SEGFAULT(*static_cast<volatile char*>(buffer.get()) = 2, "touched device memory");
}

TEST_F(DeviceTest, SmallCopiesAndKernelsSeeTheSameBytes) {
  Buffer buffer(sizeof(int));
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(orMemcpy(buffer.get(), &i, sizeof(i), orMemcpyHostToDevice));
    std::function<void()> kernel = [&] { *static_cast<int*>(buffer.get()) += 100; };
    ASSERT_OK(run_on(nullptr, kernel));
    int result = 0;
    ASSERT_OK(orMemcpy(&result, buffer.get(), sizeof(result), orMemcpyDeviceToHost));
    EXPECT_EQ(result, i + 100);
  }
}

TEST_F(IsolationDeathTest, ThreadsStartedLaterDieToo) {
  Buffer buffer(100);
  EXPECT_OK(orMemset(buffer.get(), 1, 100));
  EXPECT_SEGFAULT(
      std::thread([&] { *static_cast<volatile char*>(buffer.get()) = 2; }).join(), "touched device memory");
}

TEST_F(IsolationDeathTest, FreedMemoryIsSaidToBeFreed) {
  void* pointer = nullptr;
  ASSERT_OK(orMalloc(&pointer, 100));
  ASSERT_OK(orFree(pointer));
  EXPECT_SEGFAULT(*static_cast<volatile char*>(pointer) = 1, "device 0, in no allocation");
}

TEST_F(IsolationDeathTest, SecondDeviceIsNamed) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  ASSERT_OK(orSetDevice(1));
  Buffer buffer(8);
  EXPECT_SEGFAULT(*static_cast<volatile char*>(buffer.get()) = 1, "device 1, inside an allocation of 8 bytes");
}

void earlier_handler(int) {
  std::fputs("the earlier handler ran", stderr);
  _exit(3);
}

TEST_F(IsolationDeathTest, TheHandlerThatWasThereBeforeStillRuns) {
  // This test's own process has set its handler already; the new process hasn't.
  signal(SIGSEGV, earlier_handler);
  void* pointer = nullptr;
  ASSERT_OK(orMalloc(&pointer, 8));
  EXPECT_EXIT(*static_cast<volatile char*>(pointer) = 1, testing::ExitedWithCode(3),
      "touched device memory .*\n.*the earlier handler ran");
  signal(SIGSEGV, SIG_DFL);
  EXPECT_OK(orFree(pointer));
}

TEST_F(IsolationDeathTest, OtherFaultsAreNotOurs) {
  Buffer buffer(8);
  // Read at run time, so that no compiler sees through it.
  volatile char* volatile nowhere = reinterpret_cast<char*>(16);
  // Our message has a colon; where no sanitizer speaks, there is to be none.
  EXPECT_SEGFAULT(*nowhere = 1, "^[^:]*$|Sanitizer");
}

TEST_F(IsolationDeathTest, KernelsMayTouchDeviceMemory) {
  Buffer buffer(sizeof(int));
  std::function<void()> kernel = [&] { *static_cast<int*>(buffer.get()) = 7; };
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(run_on(nullptr, kernel));
    ASSERT_OK(orStreamSynchronize(nullptr));
  }
  EXPECT_EQ(fetch(buffer.get(), 1)[0], 7);
}

TEST_F(DeviceTest, WithoutIsolationTheHostMayTouchDeviceMemory) {
  if (!isolation_is_off()) GTEST_SKIP() << "isolation is on";
  Buffer buffer(4);
  std::memset(buffer.get(), 3, 4);
  EXPECT_EQ(fetch(buffer.get(), 4), std::vector<char>(4, 3));
}

}  // namespace
