// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

// Virtual memory: a part of the device's C API that a device may leave out. openreg.h includes it.
// Addresses and memory are reserved separately and mapped together, so that an array can grow in place and idle parts of it can be
// freed. Sizes and addresses are multiples of the granularity. Where the device lacks it: orErrorNotSupported.

#include "openreg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct orMemHandle* orMemHandle_t;  // memory without an address

OPENREG_API orError_t orMemGetAllocationGranularity(size_t* granularity);
// Addresses of the current device, without memory. The caller frees them when nothing is mapped there.
OPENREG_API orError_t orMemAddressReserve(void** pointer, size_t size);
OPENREG_API orError_t orMemAddressFree(void* pointer, size_t size);
// Memory of the current device, contents undefined. orErrorMemoryAllocation: not enough is left.
OPENREG_API orError_t orMemCreate(orMemHandle_t* handle, size_t size);
// The handle is gone at once; the memory when it is unmapped too.
OPENREG_API orError_t orMemRelease(orMemHandle_t handle);
// Puts all of the handle's memory, `size` bytes, at reserved addresses of its device, for the device to read and write.
// orErrorInvalidValue: something is mapped there, or the memory is mapped elsewhere.
OPENREG_API orError_t orMemMap(void* pointer, size_t size, orMemHandle_t handle);
// Waits for all queued work on all devices, then unmaps a range that consists of whole mappings.
OPENREG_API orError_t orMemUnmap(void* pointer, size_t size);

#ifdef __cplusplus
}  // extern "C"
#endif
