// Each allocation is a VkDeviceMemory with a VkBuffer. Most drivers allow 4096 of them; the caching allocator asks for
// large segments and stays below that. Vulkan does not say how much memory is free, so the port counts what it has
// allocated.
#include <cstdint>

#include "vulkan.h"

namespace mybackend::port {
namespace {

constexpr size_t kAlignment = 256;

auto& blocks = *new AllocationTable<Block>;

struct DeferredFrees {
  std::mutex mutex;
  std::vector<Block> blocks;  // freed by host functions, which must not wait
};
auto& deferred = *new DeferredFrees;

/// The memory type for a buffer. If there is a choice, pinned memory is cached, and device memory is not host-visible.
uint32_t memory_type(const Device& device, uint32_t allowed, bool host) {
  const VkMemoryPropertyFlags needed = host ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                                            : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const VkMemoryPropertyFlags liked = host ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT : 0;
  const VkMemoryPropertyFlags disliked =
      host ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
  std::optional<uint32_t> best;
  int best_score = -1;
  for (uint32_t i = 0; i < device.memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = device.memory.memoryTypes[i].propertyFlags;
    if ((allowed >> i & 1) == 0 || (flags & needed) != needed) continue;
    const int score = ((flags & liked) == liked ? 2 : 0) + ((flags & disliked) == 0 ? 1 : 0);
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  if (!best) throw Failure(mybackendErrorMemoryAllocation, host ? "no host-visible memory" : "no device-local memory");
  return *best;
}

void charge(Device& device, size_t size) {
  size_t used = device.used.load();
  do {
    if (size > device.total - used) {
      throw Failure(mybackendErrorMemoryAllocation, std::to_string(size) + " bytes are asked for, and " +
                                                        std::to_string(device.total - used) + " are left");
    }
  } while (!device.used.compare_exchange_weak(used, used + size));
}

Block allocate(Device& device, size_t size) {
  charge(device, size);
  try {
    const Buffer buffer = make_buffer(device, size + kAlignment, false);
    const uint64_t base = (buffer.address + kAlignment - 1) / kAlignment * kAlignment;
    return {reinterpret_cast<char*>(base), size, &device, false, buffer, base - buffer.address};
  } catch (...) {
    device.used -= size;
    throw;
  }
}

Status add(void** pointer, size_t size, bool pinned) {
  if (pointer == nullptr) return mybackendErrorInvalidValue;
  *pointer = nullptr;
  Device& device = device_at(current_device());
  if (size == 0) return mybackendSuccess;
  if (size > device.total)
    throw Failure(mybackendErrorMemoryAllocation, "the device has less than " + std::to_string(size) + " bytes");
  Block block;
  if (pinned) {
    const Buffer buffer = make_buffer(device, size, true);
    block = {buffer.mapped, size, &device, true, buffer, 0};
  } else {
    block = allocate(device, size);
  }
  blocks.add(block);
  *pointer = block.base;
  return mybackendSuccess;
}

void give_back(const Block& block) {
  destroy_buffer(*block.device, block.buffer);
  if (!block.pinned) block.device->used -= block.size;
}

Status remove(void* pointer, bool pinned) {
  if (pointer == nullptr) return mybackendSuccess;
  const auto fits = [&](const Block& block) { return block.base == pointer && block.pinned == pinned; };
  const auto known = blocks.find(pointer);
  if (!known || !fits(*known)) return mybackendErrorInvalidValue;
  if (!in_host_function()) finish_all();  // before take(): if waiting fails, the caller still owns the memory
  auto block = blocks.take(pointer, fits);
  if (!block) return mybackendErrorInvalidValue;
  std::vector<Block> all{*block};
  {
    const std::lock_guard lock(deferred.mutex);
    if (in_host_function()) {
      deferred.blocks.push_back(*block);
      return mybackendSuccess;
    }
    all.insert(all.end(), deferred.blocks.begin(), deferred.blocks.end());
    deferred.blocks.clear();
  }
  for (const Block& each : all) give_back(each);
  return mybackendSuccess;
}

}  // namespace

Buffer make_buffer(Device& device, size_t size, bool host) {
  Buffer buffer;
  auto create = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  create.size = size;
  create.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  check(vkCreateBuffer(device.device, &create, nullptr, &buffer.buffer), "vkCreateBuffer");
  try {
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device.device, buffer.buffer, &needs);
    auto flags = structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    auto allocate = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.pNext = &flags;
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = memory_type(device, needs.memoryTypeBits, host);
    check(vkAllocateMemory(device.device, &allocate, nullptr, &buffer.memory), "vkAllocateMemory");
    check(vkBindBufferMemory(device.device, buffer.buffer, buffer.memory, 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    if (host) check(vkMapMemory(device.device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    buffer.mapped = static_cast<char*>(mapped);
  } catch (...) {
    destroy_buffer(device, buffer);
    throw;
  }
  auto which = structure<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  which.buffer = buffer.buffer;
  buffer.address = vkGetBufferDeviceAddress(device.device, &which);
  return buffer;
}

void destroy_buffer(Device& device, const Buffer& buffer) {
  vkDestroyBuffer(device.device, buffer.buffer, nullptr);
  vkFreeMemory(device.device, buffer.memory, nullptr);  // unmaps it, too
}

std::optional<Block> find_block(const void* pointer, size_t size) { return blocks.find(pointer, size); }

}  // namespace mybackend::port

using namespace mybackend::port;

extern "C" {

Status mybackendMalloc(void** pointer, size_t size) {
  return call([&] { return add(pointer, size, false); });
}

Status mybackendFree(void* pointer) {
  return release([&] { return remove(pointer, false); });
}

Status mybackendMallocHost(void** pointer, size_t size) {
  return call([&] { return add(pointer, size, true); });
}

Status mybackendFreeHost(void* pointer) {
  return release([&] { return remove(pointer, true); });
}

Status mybackendMemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    if (free == nullptr || total == nullptr) return mybackendErrorInvalidValue;
    const Device& device = device_at(current_device());
    *total = device.total;
    *free = device.total - device.used;
    return mybackendSuccess;
  });
}

Status mybackendPointerGetAttributes(mybackendPointerAttributes* attributes, const void* pointer) {
  return describe([&] {
    if (attributes == nullptr) return mybackendErrorInvalidValue;
    *attributes = {mybackendMemoryTypeUnregistered, -1, nullptr, 0};
    const auto block = blocks.find(pointer);
    if (!block) return mybackendSuccess;
    *attributes = {block->pinned ? mybackendMemoryTypeHost : mybackendMemoryTypeDevice,
                   block->pinned ? -1 : block->device->index, block->base, block->size};
    return mybackendSuccess;
  });
}

}  // extern "C"
