// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
// PyTorch's registry of pinned allocators lives in libtorch_cpu, which the build of the allocators alone leaves out.
// Nobody looks anything up in it here.

#include <ATen/core/CachingHostAllocator.h>

namespace at {

void setHostAllocator(c10::DeviceType /*device_type*/, HostAllocator* /*allocator*/, uint8_t /*priority*/) {}

}  // namespace at
