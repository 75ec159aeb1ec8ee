// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/caching/ExpandableSegment.h"

#include <vector>

#include "runtime/Exception.h"

namespace openreg::caching {

namespace {

// What the device did not release. It is tried again by whichever segment comes next: the one it was for may be gone.
struct FailedReleases {
  std::mutex mutex;
  std::vector<orMemHandle_t> handles;
};

FailedReleases& refused() {
  static auto* const instance = new FailedReleases;  // segments may go after main()
  return *instance;
}

void release(orMemHandle_t handle) {
  if (orMemRelease(handle) != orSuccess) {
    orGetLastError();
    const std::lock_guard<std::mutex> lock(refused().mutex);
    refused().handles.push_back(handle);
  }
}

void release_refused() {
  std::vector<orMemHandle_t> handles;
  {
    const std::lock_guard<std::mutex> lock(refused().mutex);
    handles.swap(refused().handles);
  }
  for (orMemHandle_t handle : handles) {
    release(handle);
  }
}

}  // namespace

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
  for (char* unit : still_mapped_) {
    OPENREG_WARN(orMemUnmap(unit, granularity_));
  }
  OPENREG_WARN(orMemAddressFree(base_, bytes_));
}

// What is mapped needs no handle: released, the memory goes away when it is unmapped.
orError_t ExpandableSegment::map(char* start, size_t bytes) {
  for (size_t done = 0; done < bytes; done += granularity_) {
    if (take_still_mapped(start + done)) {
      continue;
    }
    orMemHandle_t handle = nullptr;
    orError_t error = orMemCreate(&handle, granularity_);
    if (error == orSuccess) {
      error = orMemMap(start + done, granularity_, handle);
      release(handle);
    }
    if (error != orSuccess) {
      orGetLastError();
      undo_map(start, done);
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

// What the device does not unmap serves the next who maps there.
void ExpandableSegment::undo_map(char* start, size_t bytes) {
  if (bytes == 0 || orMemUnmap(start, bytes) == orSuccess) {
    return;
  }
  orGetLastError();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t done = 0; done < bytes; done += granularity_) {
    still_mapped_.insert(start + done);
  }
}

bool ExpandableSegment::take_still_mapped(char* unit) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return still_mapped_.erase(unit) > 0;
}

}  // namespace openreg::caching
