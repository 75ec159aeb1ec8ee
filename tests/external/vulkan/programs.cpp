// Kernels: compute shaders in GLSL or SPIR-V. Note [Kernels of this port]
//   Entry point    main: a program has one kernel.
//   Sizes          the specialization constants 0, 1 and 2 are the size of a work-group. The k-th argument of kind
//                  ArgumentLocal sets constant 3 + k to its size in bytes, for the declaration of shared memory.
//   Arguments      lie in memory one after another, at most 2048 bytes. Each is aligned to the largest power of two,
//                  up to 8, that divides its size; a block with layout(buffer_reference, scalar) has the same layout.
//                  The push constant is the address of the arguments.
//   Many groups    if the first dimension has more groups than the device allows, they continue in the second, with
//                  some to spare. A shader computes gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, and
//                  compares it with a count.
#include <array>
#include <cstring>
#include <map>
#include <tuple>

#include "vulkan.h"

namespace mybackend::port {
namespace {

constexpr uint32_t kMagic = 0x07230203;  // the first word of SPIR-V

struct Kernel {
  Device* device = nullptr;
  std::string name;
  VkShaderModule module = VK_NULL_HANDLE;
  std::mutex mutex;
  std::map<std::vector<uint32_t>, VkPipeline> pipelines;  // by specialization constants
};

struct Slot {
  std::mutex mutex;
  std::unique_ptr<Kernel> kernel;  // null until it is built
};

struct Programs {
  std::mutex mutex;
  std::map<std::tuple<int, std::string, std::string>, Slot> built;  // by device, source and options; a slot never moves
};
auto& programs = *new Programs;

std::vector<uint32_t> spirv_of(const std::string& name, const std::string& source, const std::string& options) {
  uint32_t first = 0;
  if (source.size() % 4 == 0 && source.size() >= 20) std::memcpy(&first, source.data(), 4);
  if (first != kMagic) return compile(name, source, options);
  std::vector<uint32_t> words(source.size() / 4);
  std::memcpy(words.data(), source.data(), source.size());
  return words;
}

Kernel& build(Device& device, const std::string& name, const std::string& source, const std::string& options) {
  std::unique_lock found(programs.mutex);
  Slot& slot = programs.built[{device.index, source, options}];
  found.unlock();
  const std::lock_guard lock(slot.mutex);
  if (slot.kernel != nullptr) return *slot.kernel;
  const auto words = spirv_of(name, source, options);
  auto create = structure<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  create.codeSize = words.size() * 4;
  create.pCode = words.data();
  auto kernel = std::make_unique<Kernel>();
  kernel->device = &device;
  kernel->name = name;
  check(vkCreateShaderModule(device.device, &create, nullptr, &kernel->module), "vkCreateShaderModule");
  slot.kernel = std::move(kernel);
  return *slot.kernel;
}

VkPipeline make_pipeline(const Kernel& kernel, const std::vector<uint32_t>& constants) {
  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < constants.size(); ++i) entries.push_back({i, i * 4, 4});
  const VkSpecializationInfo values{static_cast<uint32_t>(entries.size()), entries.data(), constants.size() * 4,
                                    constants.data()};
  auto create = structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  create.layout = kernel.device->layout;
  create.stage = structure<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
  create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  create.stage.module = kernel.module;
  create.stage.pName = "main";
  create.stage.pSpecializationInfo = &values;
  VkPipeline pipeline = VK_NULL_HANDLE;
  check(vkCreateComputePipelines(kernel.device->device, VK_NULL_HANDLE, 1, &create, nullptr, &pipeline),
        "vkCreateComputePipelines");
  return pipeline;
}

VkPipeline pipeline_of(Kernel& kernel, const std::vector<uint32_t>& constants) {
  const std::lock_guard lock(kernel.mutex);
  VkPipeline& pipeline = kernel.pipelines[constants];
  if (pipeline == VK_NULL_HANDLE) pipeline = make_pipeline(kernel, constants);
  return pipeline;
}

[[noreturn]] void refuse(const Kernel& kernel, const std::string& why) {
  throw Failure(mybackendErrorInvalidValue, kernel.name + ": " + why);
}

struct PackedArguments {
  std::array<char, Commands::kArguments> bytes;
  size_t size = 0;
  std::vector<uint32_t> constants;
};

void add(PackedArguments& packed, const Kernel& kernel, const void* value, size_t size) {
  size_t alignment = 1;
  while (alignment < 8 && size % (alignment * 2) == 0) alignment *= 2;
  const size_t at = (packed.size + alignment - 1) / alignment * alignment;
  if (size > packed.bytes.size() || at > packed.bytes.size() - size)
    refuse(kernel, "more than " + std::to_string(packed.bytes.size()) + " bytes of arguments");
  std::memcpy(packed.bytes.data() + at, value, size);
  packed.size = at + size;
}

PackedArguments pack(const Kernel& kernel, const size_t items[3], const mybackendKernelArgument* arguments,
                     size_t count) {
  PackedArguments packed;
  for (int i = 0; i < 3; ++i) packed.constants.push_back(static_cast<uint32_t>(items[i]));
  for (size_t i = 0; i < count; ++i) {
    const auto& [kind, value, size] = arguments[i];
    if (kind == mybackendArgumentLocal) {
      packed.constants.push_back(static_cast<uint32_t>(size));
    } else if (kind == mybackendArgumentPointer) {
      add(packed, kernel, &value, sizeof(value));
    } else if (value == nullptr || size == 0) {
      refuse(kernel, "argument " + std::to_string(i) + " has no bytes");
    } else {
      add(packed, kernel, value, size);
    }
  }
  return packed;
}

/// The groups, folded if the first dimension has too many. Throws Failure if the device cannot run them.
std::array<uint32_t, 3> folded(const Kernel& kernel, const size_t groups[3], const size_t items[3]) {
  const VkPhysicalDeviceLimits& limits = kernel.device->properties.limits;
  if (items[0] * items[1] * items[2] > limits.maxComputeWorkGroupInvocations)
    refuse(kernel, "too many work-items in a group");
  for (int i = 0; i < 3; ++i) {
    if (items[i] == 0 || items[i] > limits.maxComputeWorkGroupSize[i])
      refuse(kernel, "work-groups of a size that the device does not have");
  }
  std::array<size_t, 3> all{groups[0], groups[1], groups[2]};
  const size_t row = limits.maxComputeWorkGroupCount[0];
  if (all[0] > row && all[1] == 1 && all[2] == 1) all = {row, (all[0] + row - 1) / row, 1};
  for (size_t i = 0; i < 3; ++i) {
    if (all[i] > limits.maxComputeWorkGroupCount[i]) refuse(kernel, "more work-groups than the device takes");
  }
  return {static_cast<uint32_t>(all[0]), static_cast<uint32_t>(all[1]), static_cast<uint32_t>(all[2])};
}

void launch(Stream& stream, Kernel& kernel, const size_t groups[3], const size_t items[3],
            const mybackendKernelArgument* arguments, size_t count) {
  if (&stream.device != kernel.device) refuse(kernel, "it was built for another device");
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return;
  const PackedArguments packed = pack(kernel, items, arguments, count);
  const auto counts = folded(kernel, groups, items);
  const VkPipeline pipeline = pipeline_of(kernel, packed.constants);
  stream.queue([&](Commands& commands) {
    std::memcpy(commands.arguments, packed.bytes.data(), packed.size);
    vkCmdBindPipeline(commands.buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(commands.buffer, kernel.device->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(commands.address),
                       &commands.address);
    vkCmdDispatch(commands.buffer, counts[0], counts[1], counts[2]);
  });
}

}  // namespace
}  // namespace mybackend::port

using namespace mybackend::port;

extern "C" {

// A program has one kernel, so both handles point to the same object.

Status mybackendProgramBuild(mybackendProgram_t* program, const char* name, const void* source, size_t size,
                             const char* options) {
  return call([&] {
    if (program == nullptr || name == nullptr || source == nullptr) return mybackendErrorInvalidValue;
    const std::string text(static_cast<const char*>(source), size);
    *program = reinterpret_cast<mybackendProgram_t>(
        &build(device_at(current_device()), name, text, options == nullptr ? "" : options));
    return mybackendSuccess;
  });
}

Status mybackendProgramGetKernel(mybackendKernel_t* kernel, mybackendProgram_t program, const char* name) {
  return call([&] {
    if (kernel == nullptr || program == nullptr || name == nullptr) return mybackendErrorInvalidValue;
    auto* const built = reinterpret_cast<Kernel*>(program);
    if (std::strcmp(name, "main") != 0)
      refuse(*built, std::string("no kernel '") + name + "': a program has one, main");
    *kernel = reinterpret_cast<mybackendKernel_t>(built);
    return mybackendSuccess;
  });
}

Status mybackendKernelLaunch(mybackendStream_t stream, mybackendKernel_t kernel, const size_t groups[3],
                             const size_t items[3], const mybackendKernelArgument* arguments, size_t count) {
  return call([&] {
    if (kernel == nullptr || groups == nullptr || items == nullptr || (arguments == nullptr && count != 0))
      return mybackendErrorInvalidValue;
    launch(*stream_of(stream), *reinterpret_cast<Kernel*>(kernel), groups, items, arguments, count);
    return mybackendSuccess;
  });
}

}  // extern "C"
