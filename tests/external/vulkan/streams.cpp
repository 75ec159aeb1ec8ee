// Streams, and host functions in a stream's order.
//
// A VkQueue may block at a submission that waits for a semaphore, and all streams of a device share one queue. If an
// operation behind a host function were submitted at once, it would block every other stream, and deadlock with a host
// function that waits for one of them. So an operation is held back until everything it waits for is submitted or, for
// a host function, has returned.
#include <algorithm>
#include <exception>

#include "vulkan.h"

namespace mybackend::port {
namespace {

constexpr size_t kArgumentPlaces = 32;

auto& handles = *new HandleTable<Stream, mybackendStream_t>;

VkSemaphore make_semaphore(Device& device) {
  auto type = structure<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto create = structure<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  create.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  check(vkCreateSemaphore(device.device, &create, nullptr, &semaphore), "vkCreateSemaphore");
  return semaphore;
}

VkCommandPool make_pool(Device& device) {
  auto create = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  create.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  create.queueFamilyIndex = device.family;
  VkCommandPool pool = VK_NULL_HANDLE;
  check(vkCreateCommandPool(device.device, &create, nullptr, &pool), "vkCreateCommandPool");
  return pool;
}

/// Takes out the destroyed streams whose work is done; the caller drops them. The device's mutex must be held.
std::vector<std::shared_ptr<Stream>> take_idle(Device& device) {
  std::vector<std::shared_ptr<Stream>> idle;
  for (auto& stream : device.streams) {
    if (stream->destroyed && stream->idle()) idle.push_back(std::move(stream));
  }
  std::erase(device.streams, nullptr);
  return idle;
}

}  // namespace

Stream::Stream(Device& owner, int order)
    : device(owner), priority(order), semaphore_(make_semaphore(owner)), pool_(make_pool(owner)) {}

Stream::~Stream() {
  if (forked() || exiting()) return;
  vkDestroyCommandPool(device.device, pool_, nullptr);
  vkDestroySemaphore(device.device, semaphore_, nullptr);
  for (const Buffer& buffer : argument_buffers_) destroy_buffer(device, buffer);
}

uint64_t Stream::queue(const Record& record) {
  const std::lock_guard lock(device.mutex);
  Commands commands = take_commands();
  try {
    auto begin = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(vkBeginCommandBuffer(commands.buffer, &begin), "vkBeginCommandBuffer");
    record(commands);
    check(vkEndCommandBuffer(commands.buffer), "vkEndCommandBuffer");
  } catch (...) {
    free_.push_back(commands);
    throw;
  }
  Operation operation;
  operation.commands = std::move(commands);
  add(std::move(operation));
  return queued_;
}

void Stream::queue_host(std::function<void()> function) {
  const std::lock_guard lock(device.mutex);
  Operation operation;
  operation.function = std::move(function);
  add(std::move(operation));
}

void Stream::queue_wait(const Mark& mark) {
  if (mark.stream == nullptr || mark.stream.get() == this || mark.stream->reached(mark.value)) return;
  if (&mark.stream->device != &device) {  // a semaphore belongs to one device, so a host thread waits
    queue_host([mark] {
      try {
        mark.stream->wait(mark.value);
      } catch (const Failure&) {  // that device is lost; its own callers get the error
      }
    });
    return;
  }
  const std::lock_guard lock(device.mutex);
  Operation operation;
  operation.wait = mark;
  add(std::move(operation));
}

Mark Stream::last() {
  const std::lock_guard lock(device.mutex);
  return end();
}

bool Stream::reached(uint64_t value) const {
  uint64_t now = 0;
  check(vkGetSemaphoreCounterValue(device.device, semaphore_, &now), "vkGetSemaphoreCounterValue");
  return now >= value;
}

void Stream::wait(uint64_t value) const {
  auto wait = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  wait.semaphoreCount = 1;
  wait.pSemaphores = &semaphore_;
  wait.pValues = &value;
  check(vkWaitSemaphores(device.device, &wait, UINT64_MAX), "vkWaitSemaphores");
}

// Callers of the functions below hold the device's mutex.

Commands Stream::take_commands() {
  while (!running_.empty() && reached(running_.front().first)) {
    running_.front().second.kept = nullptr;
    free_.push_back(std::move(running_.front().second));
    running_.pop_front();
  }
  Commands commands;
  if (!free_.empty()) {
    commands = std::move(free_.back());
    free_.pop_back();
    return commands;
  }
  auto allocate = structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = pool_;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  check(vkAllocateCommandBuffers(device.device, &allocate, &commands.buffer), "vkAllocateCommandBuffers");
  if (arguments_left_ == 0) {
    argument_buffers_.push_back(make_buffer(device, kArgumentPlaces * Commands::kArguments, true));
    arguments_left_ = kArgumentPlaces;
  }
  const size_t offset = --arguments_left_ * Commands::kArguments;
  commands.arguments = argument_buffers_.back().mapped + offset;
  commands.address = argument_buffers_.back().address + offset;
  return commands;
}

void Stream::add(Operation operation) {
  operation.value = ++queued_;
  held_.push_back(std::move(operation));
  ++device.held;
  try {
    advance();
    if (device.held > 0) advance_all(device);
  } catch (...) {
    if (held_.empty() || held_.back().value != queued_) return;  // it is submitted: the failure is another operation's
    // The caller is told that it failed. Earlier operations stay: their callers were told that they are queued.
    Commands commands = std::move(held_.back().commands);
    held_.pop_back();
    --device.held;
    --queued_;
    commands.kept = nullptr;
    if (commands.buffer != VK_NULL_HANDLE) free_.push_back(std::move(commands));
    throw;
  }
}

bool Stream::advance() {
  bool moved = false;
  while (!held_.empty() && !host_runs_) {
    Operation& next = held_.front();
    if (next.wait && next.wait->stream->submitted_ < next.wait->value) break;
    if (next.function) {
      run_on_host(next.value, next.function);
    } else {
      submit(next);
      submitted_ = next.value;
      if (next.commands.buffer != VK_NULL_HANDLE) running_.emplace_back(next.value, std::move(next.commands));
    }
    held_.pop_front();
    --device.held;
    moved = true;
  }
  return moved;
}

void Stream::advance_all(Device& device) {
  bool moved = true;
  while (moved) {
    moved = false;
    for (const auto& stream : device.streams) moved |= stream->advance();
  }
}

void Stream::submit(const Operation& operation) {
  const VkSemaphore semaphores[] = {semaphore_, operation.wait ? operation.wait->stream->semaphore_ : VK_NULL_HANDLE};
  const uint64_t values[] = {operation.value - 1, operation.wait ? operation.wait->value : 0};
  const VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
  auto timeline = structure<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  timeline.waitSemaphoreValueCount = operation.wait ? 2 : 1;
  timeline.pWaitSemaphoreValues = values;
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &operation.value;
  auto submit = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.pNext = &timeline;
  submit.waitSemaphoreCount = timeline.waitSemaphoreValueCount;
  submit.pWaitSemaphores = semaphores;
  submit.pWaitDstStageMask = stages;
  submit.commandBufferCount = operation.commands.buffer == VK_NULL_HANDLE ? 0 : 1;
  submit.pCommandBuffers = &operation.commands.buffer;
  submit.signalSemaphoreCount = 1;
  submit.pSignalSemaphores = &semaphore_;
  check(vkQueueSubmit(device.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
}

void Stream::run_on_host(uint64_t value, const std::function<void()>& function) {
  host_.run([stream = shared_from_this(), value, function]() mutable {
    const auto self =
        std::move(stream);  // destroyed with this call, not with the task, whose end needs the thread's lock
    try {
      self->wait(value - 1);
    } catch (const Failure&) {  // the device is lost; whoever waits for the stream gets the error
    }
    function();
    const std::lock_guard lock(self->device.mutex);
    auto signal = structure<VkSemaphoreSignalInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO);
    signal.semaphore = self->semaphore_;
    signal.value = value;
    try {
      check(vkSignalSemaphore(self->device.device, &signal), "vkSignalSemaphore");
      self->submitted_ = value;
      self->host_runs_ = false;
      advance_all(self->device);
    } catch (const std::exception&) {  // the operation stays, and the next caller tries again
    }
  });
  host_runs_ = true;
}

std::shared_ptr<Stream> default_stream(Device& device) { return device.default_stream; }

std::shared_ptr<Stream> stream_of(mybackendStream_t handle) {
  if (handle == nullptr) return default_stream(device_at(current_device()));
  auto stream = handles.find(handle);
  if (stream == nullptr) throw Failure(mybackendErrorInvalidHandle, "no such stream");
  return stream;
}

void finish(Device& device) {
  std::vector<Mark> marks;
  std::vector<std::shared_ptr<Stream>> idle;
  {
    const std::lock_guard lock(device.mutex);
    idle = take_idle(device);
    for (const auto& stream : device.streams) marks.push_back(stream->end());
  }
  for (const Mark& mark : marks) mark.stream->wait(mark.value);
}

void finish_all() {
  for (Device* const device : open_devices()) finish(*device);
}

}  // namespace mybackend::port

using namespace mybackend::port;

extern "C" {

Status mybackendDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least == nullptr || greatest == nullptr) return remember(mybackendErrorInvalidValue);
  *least = *greatest = 0;
  return mybackendSuccess;
}

Status mybackendStreamCreate(mybackendStream_t* stream) { return mybackendStreamCreateWithPriority(stream, 0); }

Status mybackendStreamCreateWithPriority(mybackendStream_t* handle, int) {
  return call([&] {
    if (handle == nullptr) return mybackendErrorInvalidValue;
    Device& device = device_at(current_device());
    auto stream = std::make_shared<Stream>(device, 0);
    std::vector<std::shared_ptr<Stream>> idle;
    {
      const std::lock_guard lock(device.mutex);
      idle = take_idle(device);
      device.streams.push_back(stream);
    }
    *handle = handles.add(std::move(stream));
    return mybackendSuccess;
  });
}

Status mybackendStreamDestroy(mybackendStream_t handle) {
  return release([&] {
    const auto stream = handles.remove(handle);
    if (stream == nullptr) return mybackendErrorInvalidHandle;
    const std::lock_guard lock(stream->device.mutex);
    stream->destroyed = true;
    return mybackendSuccess;
  });
}

Status mybackendStreamSynchronize(mybackendStream_t handle) {
  return call_and_wait([&] {
    stream_of(handle)->finish();
    return mybackendSuccess;
  });
}

Status mybackendStreamQuery(mybackendStream_t handle) {
  return call([&] {
    const Mark mark = stream_of(handle)->last();
    return mark.stream->reached(mark.value) ? mybackendSuccess : mybackendErrorNotReady;
  });
}

Status mybackendDeviceSynchronize(void) {
  return call_and_wait([&] {
    finish(device_at(current_device()));
    return mybackendSuccess;
  });
}

Status mybackendStreamGetPriority(mybackendStream_t handle, int* priority) {
  return call([&] {
    if (priority == nullptr) return mybackendErrorInvalidValue;
    *priority = stream_of(handle)->priority;
    return mybackendSuccess;
  });
}

Status mybackendStreamGetDevice(mybackendStream_t handle, int* device) {
  return call([&] {
    if (device == nullptr) return mybackendErrorInvalidValue;
    *device = stream_of(handle)->device.index;
    return mybackendSuccess;
  });
}

Status mybackendLaunchKernel(mybackendStream_t handle, void (*function)(void*), void* argument) {
  return call([&] {
    if (function == nullptr) return mybackendErrorInvalidValue;
    stream_of(handle)->queue_host([=] { function(argument); });
    return mybackendSuccess;
  });
}

}  // extern "C"
