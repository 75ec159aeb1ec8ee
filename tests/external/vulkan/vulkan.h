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
// Rungs and files: port.cpp has the instance and devices (1), memory.cpp and copies.cpp memory (2), streams.cpp and
// events.cpp
//   streams, events and functions of the host (3, 4), programs.cpp and compiler.cpp kernels in GLSL (4).
// Memory:  a pointer into device memory is a buffer's device address. The host never maps that memory: what it reads
// and writes
//   goes by way of pinned memory, which is host-visible and stays mapped.
// Streams: each has a timeline semaphore, and each operation one number more. All streams of a device share a VkQueue.
// Locks:   a device's mutex guards its queue and the state of its streams. Nobody waits for the device while holding
// it.
namespace mybackend::port {

using namespace driver;

using Status = mybackendError_t;

/// Throws Failure unless the result is VK_SUCCESS: "vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY".
void check(VkResult result, const char* function);

/// A structure of Vulkan's with its type, all else zero.
template <class T>
T structure(VkStructureType type) {
  T result{};
  result.sType = type;
  return result;
}

struct Buffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t address = 0;    // what shaders know it by
  char* mapped = nullptr;  // what the host knows it by; null for device memory
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
  VkPipelineLayout layout = VK_NULL_HANDLE;  // of all kernels: the address of the arguments
  Buffer patterns;                           // each byte four times: what sets the ends of a range that a fill cannot
  Buffer pieces;                             // pinned memory of `staging`
  std::unique_ptr<Staging> staging;

  std::mutex mutex;
  std::vector<std::shared_ptr<Stream>> streams;  // also those that were destroyed, while they work
  size_t held = 0;                               // operations of all streams that wait for the host
  std::shared_ptr<Stream> default_stream;
};

// --- port.cpp

int device_count();
int current_device();
/// Opens the device when it is first used. Throws Failure where it cannot.
Device& device_at(int index);
/// Those that are open.
std::vector<Device*> open_devices();

// --- memory.cpp

struct Block {
  char* base;
  size_t size;
  Device* device;  // whose memory it is or, if it is pinned, who copies from and to it in place
  bool pinned;
  Buffer buffer;
  size_t offset;  // of `base` in the buffer
};

/// Throws Failure where there is no such memory.
Buffer make_buffer(Device& device, size_t size, bool host);
void destroy_buffer(Device& device, const Buffer& buffer);
/// The allocation that all of [pointer, pointer + size) lies in.
std::optional<Block> find_block(const void* pointer, size_t size);

// --- streams.cpp

/// A place in a stream: reached when its semaphore has that value.
struct Mark {
  std::shared_ptr<Stream> stream;
  uint64_t value = 0;
};

/// The commands of one operation, and memory for a kernel's arguments. Used again once the operation has ended.
struct Commands {
  static constexpr size_t kArguments = 2048;

  VkCommandBuffer buffer = VK_NULL_HANDLE;
  char* arguments = nullptr;
  uint64_t address = 0;              // of the arguments
  std::shared_ptr<const void> kept;  // what must live until the operation has ended
};

/// Thread-safe. Operations run in the order in which they were queued.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Device& owner, int priority);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  using Record = std::function<void(Commands&)>;
  /// Queues what `record` puts into the command buffer. What it throws is passed on, and nothing is queued.
  uint64_t queue(const Record& record);
  /// Queues a call on a thread of the host.
  void queue_host(std::function<void()> function);
  /// Holds up what is queued from now on until the mark is reached.
  void queue_wait(const Mark& mark);
  /// The end of what is queued so far.
  Mark last();
  /// The same, and whether it is reached, while the device's mutex is held.
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
  void run_on_host(uint64_t value, std::function<void()> function);
  Commands take_commands();
  static void advance_all(Device& device);

  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<Buffer> argument_buffers_;
  size_t arguments_left_ = 0;  // places in the last of them
  std::vector<Commands> free_;
  std::deque<std::pair<uint64_t, Commands>> running_;
  std::deque<Operation> held_;  // not submitted: what they wait for is not, either
  uint64_t queued_ = 0;
  uint64_t submitted_ = 0;
  bool host_runs_ = false;  // a function of the host that the next operation waits for
  HostThread host_;
};

/// The null handle is the current device's default stream. Throws Failure if there is no such stream.
std::shared_ptr<Stream> stream_of(mybackendStream_t handle);
std::shared_ptr<Stream> default_stream(Device& device);
void finish(Device& device);
void finish_all();

// --- compiler.cpp

/// SPIR-V of a compute shader in GLSL, from the disk if it was compiled before. Throws Failure with the compiler's
/// text.
std::vector<uint32_t> compile(const std::string& name, const std::string& source, const std::string& options);

}  // namespace mybackend::port
