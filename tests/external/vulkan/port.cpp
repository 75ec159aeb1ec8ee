// A port of the device API to Vulkan 1.2, for backend `mybackend`: see Note [The Vulkan port] in vulkan.h.
// This file has the instance, the devices and their properties. Environment:
//   MYBACKEND_VULKAN_PARTS  open each Vulkan device this many times (default 1), to test several devices on a machine
//                           with one
#include <algorithm>
#include <cstdlib>

#include "vulkan.h"

namespace mybackend::port {
namespace {

struct Machine {
  VkInstance instance = VK_NULL_HANDLE;
  size_t parts = 1;
  std::vector<VkPhysicalDevice> physical;  // each appears `parts` times
  std::mutex mutex;
  std::vector<std::unique_ptr<Device>> devices;  // null until first use
};

thread_local int current = 0;

void finish_at_exit() {
  try {
    finish_all();
  } catch (const std::exception&) {  // the device is lost, and no caller is left to tell
  }
}

bool fits(VkPhysicalDevice device) {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(device, &properties);
  return properties.apiVersion >= VK_API_VERSION_1_2;
}

/// A machine without a Vulkan driver has no devices; that is not an error.
Machine& machine() {
  static Machine& instance = *[] {
    auto* const found = new Machine;
    auto application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_2;
    auto create = structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    create.pApplicationInfo = &application;
    if (vkCreateInstance(&create, nullptr, &found->instance) != VK_SUCCESS) return found;
    // Exit handlers run in reverse order. Registered after the driver is loaded, ours runs before the driver's.
    driver_starts(finish_at_exit);
    uint32_t count = 0;
    check(vkEnumeratePhysicalDevices(found->instance, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> all(count);
    check(vkEnumeratePhysicalDevices(found->instance, &count, all.data()), "vkEnumeratePhysicalDevices");
    const char* const parts = std::getenv("MYBACKEND_VULKAN_PARTS");
    if (parts != nullptr) found->parts = static_cast<size_t>(std::clamp(std::atoi(parts), 1, 8));
    for (const VkPhysicalDevice device : all) {
      if (fits(device)) found->physical.insert(found->physical.end(), found->parts, device);
    }
    found->devices.resize(found->physical.size());
    return found;
  }();
  return instance;
}

uint32_t compute_family(Device& device) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device.physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device.physical, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    const uint32_t bits = families[i].timestampValidBits;
    device.timestamp_mask = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    return i;
  }
  throw Failure(mybackendErrorNotSupported, std::string(device.properties.deviceName) + " has no compute queue");
}

/// The features that shaders and this port use, if the device has them.
struct Features {
  VkPhysicalDeviceFeatures2 core = structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceVulkan11Features v11 =
      structure<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  VkPhysicalDeviceVulkan12Features v12 =
      structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);

  Features() {
    core.pNext = &v11;
    v11.pNext = &v12;
  }
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;

  void take(const Features& there) {
    core.features.shaderFloat64 = there.core.features.shaderFloat64;
    core.features.shaderInt64 = there.core.features.shaderInt64;
    core.features.shaderInt16 = there.core.features.shaderInt16;
    v11.storageBuffer16BitAccess = there.v11.storageBuffer16BitAccess;
    v12.storageBuffer8BitAccess = there.v12.storageBuffer8BitAccess;
    v12.shaderFloat16 = there.v12.shaderFloat16;
    v12.shaderInt8 = there.v12.shaderInt8;
    v12.shaderBufferInt64Atomics = there.v12.shaderBufferInt64Atomics;
    v12.bufferDeviceAddress = there.v12.bufferDeviceAddress;
    v12.timelineSemaphore = there.v12.timelineSemaphore;
    v12.scalarBlockLayout = there.v12.scalarBlockLayout;
    v12.hostQueryReset = there.v12.hostQueryReset;
  }
  void demand(const char* device) const {
    const std::pair<VkBool32, const char*> needed[] = {{core.features.shaderInt64, "shaderInt64"},
                                                       {v12.bufferDeviceAddress, "bufferDeviceAddress"},
                                                       {v12.timelineSemaphore, "timelineSemaphore"},
                                                       {v12.scalarBlockLayout, "scalarBlockLayout"},
                                                       {v12.hostQueryReset, "hostQueryReset"}};
    for (const auto& [there, name] : needed) {
      if (there == VK_FALSE) throw Failure(mybackendErrorNotSupported, std::string(device) + " lacks " + name);
    }
  }
};

void open_queue(Device& device) {
  Features there;
  Features used;
  vkGetPhysicalDeviceFeatures2(device.physical, &there.core);
  used.take(there);
  used.demand(device.properties.deviceName);
  const float priority = 1;
  auto queue = structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = device.family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto create = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  create.pNext = &used.core;
  create.queueCreateInfoCount = 1;
  create.pQueueCreateInfos = &queue;
  check(vkCreateDevice(device.physical, &create, nullptr, &device.device), "vkCreateDevice");
  vkGetDeviceQueue(device.device, device.family, 0, &device.queue);
}

void make_layout(Device& device) {
  VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint64_t)};
  auto create = structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  create.pushConstantRangeCount = 1;
  create.pPushConstantRanges = &range;
  check(vkCreatePipelineLayout(device.device, &create, nullptr, &device.layout), "vkCreatePipelineLayout");
}

void make_staging(Device& device) {
  constexpr size_t kPiece = size_t{1} << 20;
  device.pieces = make_buffer(device, 2 * kPiece, true);
  device.staging = std::make_unique<Staging>(device.pieces.mapped, kPiece);
  device.patterns = make_buffer(device, 1024, true);
  for (int i = 0; i < 1024; ++i) device.patterns.mapped[i] = static_cast<char>(i / 4);
}

size_t memory_of(VkPhysicalDevice physical) {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  size_t total = 0;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
      total = std::max<size_t>(total, memory.memoryHeaps[i].size);
  }
  return total / machine().parts;
}

std::unique_ptr<Device> open(int index) {
  auto device = std::make_unique<Device>();
  device->index = index;
  device->physical = machine().physical[static_cast<size_t>(index)];
  vkGetPhysicalDeviceProperties(device->physical, &device->properties);
  vkGetPhysicalDeviceMemoryProperties(device->physical, &device->memory);
  device->total = memory_of(device->physical);
  device->family = compute_family(*device);
  open_queue(*device);
  make_layout(*device);
  make_staging(*device);
  device->default_stream = std::make_shared<Stream>(*device, 0);
  device->streams.push_back(device->default_stream);
  return device;
}

const char* name_of(VkResult result) {
  switch (result) {
    case VK_NOT_READY:
      return "VK_NOT_READY";
    case VK_TIMEOUT:
      return "VK_TIMEOUT";
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_MEMORY_MAP_FAILED:
      return "VK_ERROR_MEMORY_MAP_FAILED";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "VK_ERROR_TOO_MANY_OBJECTS";
    case VK_ERROR_INVALID_SHADER_NV:
      return "VK_ERROR_INVALID_SHADER_NV";
    default:
      return nullptr;
  }
}

}  // namespace

void check(VkResult result, const char* function) {
  if (result == VK_SUCCESS) return;
  const bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                      result == VK_ERROR_TOO_MANY_OBJECTS;
  const char* const name = name_of(result);
  throw Failure(memory ? mybackendErrorMemoryAllocation : mybackendErrorUnknown,
                std::string(function) + ": " + (name == nullptr ? "VkResult " + std::to_string(result) : name));
}

int device_count() { return static_cast<int>(machine().physical.size()); }

int current_device() { return current; }

Device& device_at(int index) {
  if (index < 0 || index >= device_count())
    throw Failure(mybackendErrorInvalidDevice, "there are " + std::to_string(device_count()) + " Vulkan devices");
  const std::lock_guard lock(machine().mutex);
  auto& device = machine().devices[static_cast<size_t>(index)];
  if (device == nullptr) device = open(index);
  return *device;
}

std::vector<Device*> open_devices() {
  std::vector<Device*> devices;
  const std::lock_guard lock(machine().mutex);
  for (const auto& device : machine().devices) {
    if (device != nullptr) devices.push_back(device.get());
  }
  return devices;
}

}  // namespace mybackend::port

using namespace mybackend::port;

extern "C" {

Status mybackendGetDeviceCount(int* count) {
  return describe([&] {
    if (count == nullptr) return mybackendErrorInvalidValue;
    *count = device_count();
    return mybackendSuccess;
  });
}

Status mybackendGetDevice(int* device) {
  if (device == nullptr) return remember(mybackendErrorInvalidValue);
  *device = current;
  return mybackendSuccess;
}

Status mybackendSetDevice(int device) {
  return describe([&] {
    if (device < 0 || device >= device_count()) return mybackendErrorInvalidDevice;
    current = device;
    return mybackendSuccess;
  });
}

Status mybackendGetDeviceProperties(mybackendDeviceProperties* properties, int device) {
  return describe([&] {
    if (properties == nullptr) return mybackendErrorInvalidValue;
    if (device < 0 || device >= device_count()) return mybackendErrorInvalidDevice;
    const VkPhysicalDevice physical = machine().physical[static_cast<size_t>(device)];
    VkPhysicalDeviceProperties there;
    vkGetPhysicalDeviceProperties(physical, &there);
    *properties = {};
    std::string(there.deviceName).copy(properties->name, sizeof(properties->name) - 1);
    properties->totalMemory = memory_of(physical);
    properties->multiProcessorCount = 1;  // Vulkan does not say
    properties->major = static_cast<int>(VK_API_VERSION_MAJOR(there.apiVersion));
    properties->minor = static_cast<int>(VK_API_VERSION_MINOR(there.apiVersion));
    return mybackendSuccess;
  });
}

}  // extern "C"
