// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/caching/ExpandableSegment.h"

#include "runtime/Exception.h"

namespace openreg::caching {

std::unique_ptr<ExpandableSegment> ExpandableSegment::make(size_t bytes, size_t granularity) {
  void* base = nullptr;
  if (orMemAddressReserve(&base, bytes) != orSuccess) {
    orGetLastError();
    return nullptr;
  }
  return std::unique_ptr<ExpandableSegment>(new ExpandableSegment(static_cast<char*>(base), bytes, granularity));
}

ExpandableSegment::~ExpandableSegment() {
  release_refused();
  OPENREG_WARN(orMemAddressFree(base_, bytes_));
}

// What is mapped needs no handle: released, the memory goes away when it is unmapped.
orError_t ExpandableSegment::map(char* start, size_t bytes) {
  for (size_t done = 0; done < bytes; done += granularity_) {
    orMemHandle_t handle = nullptr;
    orError_t error = orMemCreate(&handle, granularity_);
    if (error == orSuccess) {
      error = orMemMap(start + done, granularity_, handle);
      release(handle);
    }
    if (error != orSuccess) {
      orGetLastError();
      if (done > 0) {
        OPENREG_WARN(orMemUnmap(start, done));
      }
      return error;
    }
  }
  return orSuccess;
}

orError_t ExpandableSegment::unmap(char* start, size_t bytes) {
  const orError_t error = orMemUnmap(start, bytes);
  if (error != orSuccess) {
    orGetLastError();
  }
  release_refused();
  return error;
}

void ExpandableSegment::release(orMemHandle_t handle) {
  if (orMemRelease(handle) != orSuccess) {
    orGetLastError();
    const std::lock_guard<std::mutex> lock(mutex_);
    refused_.push_back(handle);
  }
}

void ExpandableSegment::release_refused() {
  std::vector<orMemHandle_t> handles;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    handles.swap(refused_);
  }
  for (orMemHandle_t handle : handles) {
    release(handle);
  }
}

}  // namespace openreg::caching
