#pragma once

#include <vulkan/vulkan.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "port_support.h"

// Note [The Vulkan port]
// Each rung of the bring-up ladder has its files: port.cpp (1: instance and devices), memory.cpp and copies.cpp (2),
// streams.cpp and events.cpp (3, and the host functions of 4), programs.cpp and compiler.cpp (4: kernels in GLSL).
// Memory:  a device pointer is a buffer device address. The host never maps device memory; data passes through pinned
//          memory, which is host-visible and stays mapped.
// Streams: each stream has a timeline semaphore. Each operation waits for the semaphore's last value and signals the
//          next. All streams of a device submit to one VkQueue.
// Locks:   Device::mutex guards the device's queue and the state of its streams. No thread waits for the device while
//          it holds it.
namespace mybackend::port {

using namespace driver;

using Status = mybackendError_t;

/// Throws Failure unless the result is VK_SUCCESS: "vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY".
void check(VkResult result, const char* function);

/// A Vulkan structure with its type set and all other members zero.
template <class T>
T structure(VkStructureType type) {
  T result{};
  result.sType = type;
  return result;
}

struct Buffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t address = 0;    // for shaders
  char* mapped = nullptr;  // for the host; null for device memory
};

class Stream;

struct Device {
  int index = 0;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;  // of the queue
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceMemoryProperties memory{};
  uint64_t timestamp_mask = 0;
  size_t total = 0;  // bytes of memory
  std::atomic<size_t> used{0};
  VkPipelineLayout layout = VK_NULL_HANDLE;  // shared by all kernels; the push constant is the address of the arguments
  Buffer patterns;                           // each byte value four times; see set() in copies.cpp
  Buffer pieces;                             // pinned memory of `staging`
  std::unique_ptr<Staging> staging;

  std::mutex mutex;
  std::vector<std::shared_ptr<Stream>> streams;  // a destroyed stream stays here until its work is done
  size_t held = 0;                               // operations in all streams that are not submitted yet
  std::shared_ptr<Stream> default_stream;
};

// --- port.cpp

int device_count();
int current_device();
/// Opens the device at its first use. Throws Failure if it cannot.
Device& device_at(int index);
/// The devices that have been opened.
std::vector<Device*> open_devices();

// --- memory.cpp

struct Block {
  char* base;
  size_t size;
  Device* device;  // the owner; pinned memory is copied in place by this device only
  bool pinned;
  Buffer buffer;
  size_t offset;  // of `base` in the buffer
};

/// `host`: pinned memory. Throws Failure if memory is out.
Buffer make_buffer(Device& device, size_t size, bool host);
void destroy_buffer(Device& device, const Buffer& buffer);
/// The allocation that all of [pointer, pointer + size) lies in.
std::optional<Block> find_block(const void* pointer, size_t size);

// --- streams.cpp

/// A point in a stream, reached when the stream's semaphore has this value.
struct Mark {
  std::shared_ptr<Stream> stream;
  uint64_t value = 0;
};

/// The command buffer of one operation and memory for a kernel's arguments, reused when the operation has ended.
struct Commands {
  static constexpr size_t kArguments = 2048;

  VkCommandBuffer buffer = VK_NULL_HANDLE;
  char* arguments = nullptr;
  uint64_t address = 0;              // of the arguments
  std::shared_ptr<const void> kept;  // released when the operation has ended
};

/// Thread-safe. Operations run in the order in which they were queued.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Device& owner, int priority);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  using Record = std::function<void(Commands&)>;
  /// Queues the commands that `record` records. If `record` throws, nothing is queued.
  uint64_t queue(const Record& record);
  /// Queues a call of `function` on a host thread.
  void queue_host(std::function<void()> function);
  /// Operations queued from now on run after `mark`.
  void queue_wait(const Mark& mark);
  /// The end of what is queued so far.
  Mark last();
  /// For callers that hold the device's mutex.
  Mark end() { return {shared_from_this(), queued_}; }
  bool idle() const { return reached(queued_); }
  bool reached(uint64_t value) const;
  /// Throws Failure if the device is lost.
  void wait(uint64_t value) const;
  void finish() { wait(last().value); }

  Device& device;
  const int priority;
  bool destroyed = false;  // under the device's mutex

 private:
  struct Operation {
    uint64_t value = 0;
    Commands commands;
    std::optional<Mark> wait;
    std::function<void()> function;
  };

  void add(Operation operation);
  bool advance();
  void submit(const Operation& operation);
  void run_on_host(uint64_t value, const std::function<void()>& function);
  Commands take_commands();
  static void advance_all(Device& device);

  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<Buffer> argument_buffers_;
  size_t arguments_left_ = 0;  // unused places in the last buffer
  std::vector<Commands> free_;
  std::deque<std::pair<uint64_t, Commands>> running_;
  std::deque<Operation> held_;  // not submitted yet, because they wait for something that is not
  uint64_t queued_ = 0;
  uint64_t submitted_ = 0;
  bool host_runs_ = false;  // a host function runs, or waits to run
  HostThread host_;
};

/// A null handle is the current device's default stream. Throws Failure for a handle that is not a stream.
std::shared_ptr<Stream> stream_of(mybackendStream_t handle);
std::shared_ptr<Stream> default_stream(Device& device);
void finish(Device& device);
void finish_all();

// --- compiler.cpp

/// Compiles a GLSL compute shader to SPIR-V, or reads it from the disk. Throws Failure with the compiler's text.
std::vector<uint32_t> compile(const std::string& name, const std::string& source, const std::string& options);

}  // namespace mybackend::port
