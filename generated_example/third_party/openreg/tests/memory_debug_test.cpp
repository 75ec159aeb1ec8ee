// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <signal.h>
#include <stdlib.h>

#include <functional>

#include "test_support.h"

// Debugging is switched on before the first use of the device, so each test runs in a process of its own: death tests
// of the "threadsafe" kind start one, and the environment says so.

namespace {

constexpr const char* kSwitch = "OPENREG_MEMORY_DEBUG";
constexpr size_t kPage = 4096;

class MemoryDebugDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    setenv(kSwitch, "1", 1);
  }
  void TearDown() override { unsetenv(kSwitch); }
};

void* make_buffer(size_t size) {
  void* pointer = nullptr;
  EXPECT_OK(orMalloc(&pointer, size));
  return pointer;
}

// A kernel that writes a byte.
void poke(void* address) {
  std::function<void()> kernel = [address] { *static_cast<volatile char*>(address) = 1; };
  EXPECT_OK(run_on(nullptr, kernel));
  EXPECT_OK(orDeviceSynchronize());
}

// A regular expression for a report with these parts, in this order.
std::string report(const std::string& what, const std::string& stacks) { return what + "(.|\n)*" + stacks; }

TEST_F(MemoryDebugDeathTest, KernelsThatUseFreedMemory) {
  EXPECT_DEATH(
      {
        char* freed = static_cast<char*>(make_buffer(100));
        poke(freed + 5);
        EXPECT_OK(orFree(freed));
        make_buffer(100);
        poke(freed + 5);
      },
      report("use after free: device memory at 0x[0-9a-f]+ is 5 bytes inside an allocation of 100 bytes of device 0 that was freed",
          "allocated at:(.|\n)*orMalloc(.|\n)*freed at:(.|\n)*orFree(.|\n)*used at:"));
}

TEST_F(MemoryDebugDeathTest, CopiesFromFreedMemory) {
  EXPECT_DEATH(
      {
        void* freed = make_buffer(100);
        EXPECT_OK(orFree(freed));
        char target[100];
        orMemcpy(target, freed, 100, orMemcpyDeviceToHost);
      },
      report("use after free", "allocated at:(.|\n)*freed at:(.|\n)*used at:(.|\n)*orMemcpy"));
}

TEST_F(MemoryDebugDeathTest, AccessesPastTheEnd) {
  EXPECT_DEATH(poke(static_cast<char*>(make_buffer(kPage)) + kPage + 3),
      report("out of bounds: an access at 0x[0-9a-f]+, 3 bytes after an allocation of 4096 bytes of device 0", "allocated at:"));
}

TEST_F(MemoryDebugDeathTest, AccessesBeforeTheStart) {
  EXPECT_DEATH(poke(static_cast<char*>(make_buffer(10)) - 1),
      report("out of bounds: an access at 0x[0-9a-f]+, 1 bytes before an allocation of 10 bytes", "allocated at:"));
}

TEST_F(MemoryDebugDeathTest, CopiesPastTheEnd) {
  EXPECT_DEATH(orMemset(make_buffer(100), 0, 101), report("out of bounds: a copy or memset reaches beyond", "allocated at:"));
}

TEST_F(MemoryDebugDeathTest, SecondFrees) {
  EXPECT_DEATH(
      {
        void* pointer = make_buffer(100);
        EXPECT_OK(orFree(pointer));
        orFree(pointer);
      },
      report("double free: device memory at 0x[0-9a-f]+ is 0 bytes inside", "allocated at:(.|\n)*freed at:(.|\n)*freed again at:"));
}

TEST_F(MemoryDebugDeathTest, WhatIsRightGoesOn) {
  EXPECT_EXIT(
      {
        // More than there are addresses for: freed ones are used again in the end.
        for (int i = 0; i < 200; ++i) {
          size_t free = 0;
          size_t total = 0;
          EXPECT_OK(orMemGetInfo(&free, &total));
          char* buffer = static_cast<char*>(make_buffer(total / 4 * 3));
          poke(buffer);
          EXPECT_OK(orFree(buffer));
          EXPECT_OK(orMemGetInfo(&free, &total));
          EXPECT_EQ(free, total);
        }
        _exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
