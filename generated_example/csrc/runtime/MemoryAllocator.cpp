// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/MemoryAllocator.h"

#include <cstdlib>
#include <mutex>
#include <utility>

#include <c10/util/Exception.h>

#include "runtime/Functions.h"

namespace openreg {

namespace {

std::vector<std::function<bool()>>& free_memory_callbacks() {
  static auto* const callbacks = new std::vector<std::function<bool()>>();
  return *callbacks;
}

std::mutex& callbacks_mutex() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}

}  // namespace

void OpenRegAllocator::not_supported(const char* function) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "openreg: the ", name(), " allocator has no ", function, "()",
      "; `allocator: {device: caching}` in the spec gives an allocator that has");
  std::abort();  // unreachable; the macro's throw is conditional to the compiler
}

void* OpenRegAllocator::raw_alloc(size_t) { not_supported("raw_alloc"); }
void* OpenRegAllocator::raw_alloc_with_stream(size_t, orStream_t) { not_supported("raw_alloc_with_stream"); }
void OpenRegAllocator::raw_delete(void*) { not_supported("raw_delete"); }
double OpenRegAllocator::getMemoryFraction(c10::DeviceIndex) { not_supported("getMemoryFraction"); }
void OpenRegAllocator::setMemoryFraction(double, c10::DeviceIndex) { not_supported("setMemoryFraction"); }
void OpenRegAllocator::enable(bool) { not_supported("enable"); }
bool OpenRegAllocator::isEnabled() const { return true; }
void OpenRegAllocator::cacheInfo(c10::DeviceIndex, size_t*) { not_supported("cacheInfo"); }
void* OpenRegAllocator::getBaseAllocation(void*, size_t*) { not_supported("getBaseAllocation"); }
SnapshotInfo OpenRegAllocator::snapshot(MempoolId_t, bool) { not_supported("snapshot"); }

bool OpenRegAllocator::isHistoryEnabled() { return false; }
void OpenRegAllocator::recordHistory(
    bool, CreateContextFn, size_t, RecordContext, bool,
    const std::vector<std::string>&) {
  not_supported("recordHistory");
}
std::shared_ptr<c10::GatheredContext> OpenRegAllocator::getContextForPointer(const void*) { return nullptr; }
void OpenRegAllocator::recordAnnotation(const std::vector<std::pair<std::string, std::string>>&) {}
void OpenRegAllocator::pushCompileContext(std::string&) {}
void OpenRegAllocator::popCompileContext() {}
void OpenRegAllocator::setUserMetadata(const std::string&) { not_supported("setUserMetadata"); }
std::string OpenRegAllocator::getUserMetadata() { return {}; }
void OpenRegAllocator::attachOutOfMemoryObserver(OutOfMemoryObserver) { not_supported("attachOutOfMemoryObserver"); }
void OpenRegAllocator::attachAllocatorTraceTracker(AllocatorTraceTracker) {
  not_supported("attachAllocatorTraceTracker");
}

OpenRegAllocator& getCurrentAllocator() {
  auto* const allocator = dynamic_cast<OpenRegAllocator*>(getDeviceAllocator());
  TORCH_CHECK(allocator != nullptr, "openreg: the device's allocator was not created by this backend");
  return *allocator;
}

std::shared_ptr<OpenRegAllocator> getCurrentAllocatorShared() {
  return {std::shared_ptr<void>(), &getCurrentAllocator()};
}

bool registerFreeMemoryCallback(std::function<bool()> callback) {
  const std::lock_guard<std::mutex> lock(callbacks_mutex());
  free_memory_callbacks().push_back(std::move(callback));
  return true;
}

bool callFreeMemoryCallbacks() {
  std::vector<std::function<bool()>> callbacks;
  {
    const std::lock_guard<std::mutex> lock(callbacks_mutex());
    callbacks = free_memory_callbacks();
  }
  bool any = false;
  for (const auto& callback : callbacks) {
    any = callback() || any;
  }
  return any;
}

}  // namespace openreg
