#include "spec/kinds.h"

namespace openreg_gen {
namespace {

constexpr AllocatorKind kAllocatorKinds[] = {
    {.word = "caching",
     .about = "freed memory is cached and reused.",
     .file = "csrc/runtime/caching/CachingAllocator.cpp",
     .caches = true},
    {.word = "pluggable",
     .about = "the same, unless the process loads another allocator.",
     .file = "csrc/runtime/caching/CachingAllocator.cpp",
     .caches = true},
    {.word = "direct", .about = "each storage is one device allocation.", .file = "csrc/runtime/Allocator.cpp"},
};

constexpr DeviceKind kDeviceKinds[] = {
    {.word = "emulator",
     .about = "a simulated device with a C API.",
     .simulated = true,
     .keys = "count memory",
     .runs_loops = true},
    {.word = "external",
     .about = "the same C API as a port layer, which you fill with calls of your runtime.",
     .ported = true,
     .keys = "kernels"},
    {.word = "opencl",
     .about = "the same C API over the OpenCL devices of the machine.",
     .keys = "memory platform type sub_devices",
     .kernels = "opencl_c",
     .spec = "opencl.yaml"},
    {.word = "compiler",
     .about = "a port layer like `external`, for a device that only runs what a graph compiler makes: operators become "
              "graphs of one node.",
     .ported = true,
     .compiles = true,
     .spec = "compiler.yaml"},
};

}  // namespace

std::span<const AllocatorKind> allocator_kinds() { return kAllocatorKinds; }

const AllocatorKind* find_allocator_kind(std::string_view word) {
  return find_by(kAllocatorKinds, word, &AllocatorKind::word);
}

std::span<const DeviceKind> device_kinds() { return kDeviceKinds; }

const DeviceKind* find_device_kind(std::string_view word) { return find_by(kDeviceKinds, word, &DeviceKind::word); }

}  // namespace openreg_gen
