// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "test_support.h"

// The other process is this program again, running one test, since a forked child could not use the device. What it is
// to do it finds in its environment.

extern char** environ;

namespace {

constexpr const char* kHandle = "OPENREG_TEST_IPC_HANDLE";
constexpr const char* kTask = "OPENREG_TEST_IPC_TASK";
constexpr size_t kSize = 3 * 4096 + 10;

std::string to_text(const orIpcMemHandle_t& handle) {
  std::string text;
  for (const char byte : handle.reserved) {
    const char* digits = "0123456789abcdef";
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[byte & 15];
  }
  return text;
}

orIpcMemHandle_t from_text(const std::string& text) {
  orIpcMemHandle_t handle{};
  for (size_t i = 0; i < sizeof(handle.reserved); ++i) {
    handle.reserved[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  }
  return handle;
}

// The exit code of this program, running IpcChild.Runs; `handle` and `task` are for it, `visible` are the devices that it sees.
int other_process(const orIpcMemHandle_t& handle, const char* task, const char* visible = "0,1") {
  std::string handle_variable = std::string(kHandle) + "=" + to_text(handle);
  std::string task_variable = std::string(kTask) + "=" + task;
  std::string visible_variable = std::string("OPENREG_VISIBLE_DEVICES=") + visible;
  std::vector<char*> variables = {handle_variable.data(), task_variable.data(), visible_variable.data()};
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=IpcChild.Runs";
  char* arguments[] = {program.data(), filter.data(), nullptr};
  const pid_t child = fork();
  if (child == 0) {
    execve("/proc/self/exe", arguments, variables.data());
    _exit(100);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

std::vector<char> download(const void* memory, size_t size) {
  std::vector<char> bytes(size);
  EXPECT_OK(orMemcpy(bytes.data(), memory, size, orMemcpyDeviceToHost));
  return bytes;
}

TEST(IpcChild, Runs) {
  const char* text = std::getenv(kHandle);
  if (text == nullptr) GTEST_SKIP() << "run by the other tests";
  const std::string task = std::getenv(kTask);
  const orIpcMemHandle_t handle = from_text(text);
  void* memory = nullptr;
  if (task == "fail") {
    EXPECT_EQ(orIpcOpenMemHandle(&memory, handle), orErrorInvalidHandle);
    EXPECT_EQ(memory, nullptr);
    return;
  }
  if (task == "unseen") {
    EXPECT_EQ(orIpcOpenMemHandle(&memory, handle), orErrorInvalidDevice);
    return;
  }
  if (task == "renumbered") {
    ASSERT_OK(orIpcOpenMemHandle(&memory, handle));
    orPointerAttributes seen{};
    EXPECT_OK(orPointerGetAttributes(&seen, memory));
    EXPECT_EQ(seen.device, 1);
    return;
  }
  size_t free = 0;
  size_t total = 0;
  ASSERT_OK(orMemGetInfo(&free, &total));
  ASSERT_OK(orIpcOpenMemHandle(&memory, handle));
  orPointerAttributes attributes{};
  EXPECT_OK(orPointerGetAttributes(&attributes, static_cast<char*>(memory) + 5));
  EXPECT_EQ(attributes.type, orMemoryTypeDevice);
  EXPECT_EQ(attributes.base, memory);
  EXPECT_EQ(attributes.size, kSize);
  EXPECT_EQ(download(memory, kSize), std::vector<char>(kSize, 7));
  EXPECT_OK(orMemset(memory, 9, kSize));
  if (task == "die") _exit(3);
  // It is the owner's to free and to share, and takes up no memory here.
  orIpcMemHandle_t again;
  EXPECT_EQ(orFree(memory), orErrorInvalidValue);
  EXPECT_EQ(orIpcGetMemHandle(&again, memory), orErrorNotSupported);
  size_t free_now = 0;
  EXPECT_OK(orMemGetInfo(&free_now, &total));
  EXPECT_EQ(free_now, free);
  EXPECT_OK(orIpcCloseMemHandle(memory));
  EXPECT_EQ(orIpcCloseMemHandle(memory), orErrorInvalidValue);
  EXPECT_EQ(orMemset(memory, 1, 1), orErrorInvalidValue);
  // The addresses are this process's own again.
  Buffer own(kSize);
  EXPECT_OK(orMemset(own.get(), 1, kSize));
  EXPECT_EQ(download(own.get(), kSize), std::vector<char>(kSize, 1));
}

class IpcTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    ASSERT_OK(orMalloc(&memory_, kSize));
    ASSERT_OK(orMemset(memory_, 7, kSize));
    if (orIpcGetMemHandle(&handle_, memory_) == orErrorNotSupported) {
      GTEST_SKIP() << "the system has no files without a name";
    }
  }
  void TearDown() override {
    EXPECT_OK(orFree(memory_));
    orGetLastError();
    DeviceTest::TearDown();
  }

  void* memory_ = nullptr;
  orIpcMemHandle_t handle_{};
};

TEST_F(IpcTest, AnotherProcessReadsAndWrites) {
  Buffer neighbour(4096);
  ASSERT_OK(orMemset(neighbour.get(), 5, 4096));
  EXPECT_EQ(other_process(handle_, "work"), 0);
  EXPECT_EQ(download(memory_, kSize), std::vector<char>(kSize, 9));
  EXPECT_EQ(download(neighbour.get(), 4096), std::vector<char>(4096, 5));
}

TEST_F(IpcTest, AnotherProcessMaySeeTheDeviceUnderAnotherNumber) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  EXPECT_EQ(other_process(handle_, "renumbered", "1,0"), 0);
  EXPECT_EQ(other_process(handle_, "unseen", "1"), 0);
}

TEST_F(IpcTest, AnotherProcessMayDieWithIt) {
  EXPECT_EQ(other_process(handle_, "die"), 3);
  EXPECT_EQ(download(memory_, kSize), std::vector<char>(kSize, 9));
}

TEST_F(IpcTest, HandlesOfTheDeadAreRefused) {
  orIpcMemHandle_t dead = handle_;
  int process = 0;
  std::memcpy(&process, dead.reserved + 4, sizeof(process));
  ASSERT_EQ(process, getpid());
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  std::memcpy(dead.reserved + 4, &child, sizeof(child));
  void* memory = nullptr;
  EXPECT_EQ(orIpcOpenMemHandle(&memory, dead), orErrorInvalidHandle);
  dead.reserved[0] = 0;
  EXPECT_EQ(orIpcOpenMemHandle(&memory, dead), orErrorInvalidHandle);
  EXPECT_EQ(other_process(dead, "fail"), 0);
}

TEST_F(IpcTest, TheSameProcessMayOpenItsOwn) {
  void* twin = nullptr;
  ASSERT_OK(orIpcOpenMemHandle(&twin, handle_));
  EXPECT_NE(twin, memory_);
  EXPECT_OK(orMemset(twin, 4, kSize));
  EXPECT_EQ(download(memory_, kSize), std::vector<char>(kSize, 4));
  EXPECT_OK(orIpcCloseMemHandle(twin));
  EXPECT_EQ(download(memory_, kSize), std::vector<char>(kSize, 4));
}

TEST_F(IpcTest, OnlyStartsOfAllocationsHaveHandles) {
  orIpcMemHandle_t handle;
  char local = 0;
  EXPECT_EQ(orIpcGetMemHandle(&handle, static_cast<char*>(memory_) + 1), orErrorInvalidValue);
  EXPECT_EQ(orIpcGetMemHandle(&handle, &local), orErrorInvalidValue);
  EXPECT_EQ(orIpcGetMemHandle(&handle, nullptr), orErrorInvalidValue);
  EXPECT_EQ(orIpcGetMemHandle(nullptr, memory_), orErrorInvalidValue);
  EXPECT_EQ(orIpcOpenMemHandle(nullptr, handle_), orErrorInvalidValue);
  EXPECT_EQ(orIpcCloseMemHandle(memory_), orErrorInvalidValue);
}

TEST_F(DeviceTest, FreedMemoryIsZeroOnlyIfItWasGivenBack) {
  constexpr size_t size = size_t{32} << 20;
  void* memory = nullptr;
  ASSERT_OK(orMalloc(&memory, size));
  ASSERT_OK(orMemset(memory, 1, size));
  ASSERT_OK(orFree(memory));
  ASSERT_OK(orMalloc(&memory, size));
  EXPECT_EQ(download(memory, 4096), std::vector<char>(4096, 0));
  EXPECT_OK(orFree(memory));
}

TEST_F(DeviceTest, PeersReachEachOther) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  int can = 2;
  EXPECT_OK(orDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  EXPECT_EQ(orDeviceCanAccessPeer(&can, 0, count), orErrorInvalidDevice);
  EXPECT_EQ(orDeviceCanAccessPeer(nullptr, 0, 0), orErrorInvalidValue);
  EXPECT_EQ(orDeviceEnablePeerAccess(0), orErrorInvalidDevice);
  if (count < 2) return;
  EXPECT_OK(orDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_OK(orDeviceEnablePeerAccess(1));
  EXPECT_OK(orDeviceEnablePeerAccess(1));
}

}  // namespace
