// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "openreg.h"

#define EXPECT_OK(expression) EXPECT_EQ((expression), orSuccess)
#define ASSERT_OK(expression) ASSERT_EQ((expression), orSuccess)

// Runs a closure on a stream; `function` must outlive it.
inline orError_t run_on(orStream_t stream, std::function<void()>& function) {
  return orLaunchKernel(stream, [](void* argument) { (*static_cast<std::function<void()>*>(argument))(); }, &function);
}

// A kernel that holds its stream up until open() is called; opened at the latest when it goes out of scope.
class Gate {
 public:
  explicit Gate(orStream_t stream) { EXPECT_OK(orLaunchKernel(stream, wait, this)); }
  ~Gate() {
    open();
    // The kernel still reads this object.
    while (!left_) std::this_thread::yield();
  }
  void open() { open_ = true; }
  void wait_until_entered() const {
    while (!entered_) std::this_thread::yield();
  }

 private:
  static void wait(void* argument) {
    auto* gate = static_cast<Gate*>(argument);
    gate->entered_ = true;
    while (!gate->open_) std::this_thread::yield();
    gate->left_ = true;
  }

  std::atomic<bool> entered_{false};
  std::atomic<bool> open_{false};
  std::atomic<bool> left_{false};
};

// Device memory that frees itself.
class Buffer {
 public:
  explicit Buffer(size_t size) { EXPECT_OK(orMalloc(&pointer_, size)); }
  Buffer(Buffer&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  ~Buffer() { EXPECT_OK(orFree(pointer_)); }
  void* get() const { return pointer_; }
  char* bytes() const { return static_cast<char*>(pointer_); }

 private:
  void* pointer_ = nullptr;
};

class PinnedBuffer {
 public:
  explicit PinnedBuffer(size_t size) { EXPECT_OK(orMallocHost(&pointer_, size)); }
  PinnedBuffer(PinnedBuffer&&) = delete;
  ~PinnedBuffer() { EXPECT_OK(orFreeHost(pointer_)); }
  char* bytes() const { return static_cast<char*>(pointer_); }

 private:
  void* pointer_ = nullptr;
};

class OwnedStream {
 public:
  explicit OwnedStream(int priority = 0) { EXPECT_OK(orStreamCreateWithPriority(&stream_, priority)); }
  OwnedStream(OwnedStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  ~OwnedStream() {
    if (stream_ != nullptr) {
      EXPECT_OK(orStreamDestroy(stream_));
    }
  }
  orStream_t get() const { return stream_; }

 private:
  orStream_t stream_ = nullptr;
};

class OwnedEvent {
 public:
  explicit OwnedEvent(unsigned int flags = orEventDefault) { EXPECT_OK(orEventCreateWithFlags(&event_, flags)); }
  OwnedEvent(OwnedEvent&&) = delete;
  ~OwnedEvent() { EXPECT_OK(orEventDestroy(event_)); }
  orEvent_t get() const { return event_; }

 private:
  orEvent_t event_ = nullptr;
};

inline std::vector<char> numbered(size_t size, int start = 0) {
  std::vector<char> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(start + static_cast<int>(i % 251));
  return bytes;
}

inline std::vector<char> fetch(const void* device, size_t size) {
  std::vector<char> bytes(size);
  EXPECT_OK(orMemcpy(bytes.data(), device, size, orMemcpyDeviceToHost));
  return bytes;
}

// Leaves the current device as it was, and no error behind for the next test.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(orSetDevice(0));
    orGetLastError();
  }
  void TearDown() override {
    int count = 0;
    ASSERT_OK(orGetDeviceCount(&count));
    for (int device = 0; device < count; ++device) {
      ASSERT_OK(orSetDevice(device));
      EXPECT_OK(orDeviceSynchronize());
    }
    ASSERT_OK(orSetDevice(0));
  }
};
