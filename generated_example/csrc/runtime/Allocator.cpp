// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Allocator.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <c10/util/Exception.h>

#include "runtime/Functions.h"

namespace openreg {

namespace {

std::atomic<c10::DeviceAllocator*>& current() {
  static std::atomic<c10::DeviceAllocator*> allocator{makeDeviceAllocator()};
  return allocator;
}

// Set once, before the first allocation; never destroyed, as tensors may outlive main().
std::shared_ptr<OpenRegAllocator>& custom_allocator() {
  static auto* const allocator = new std::shared_ptr<OpenRegAllocator>();
  return *allocator;
}

std::vector<std::function<bool()>>& free_memory_callbacks() {
  static auto* const callbacks = new std::vector<std::function<bool()>>();
  return *callbacks;
}

std::mutex& change_mutex() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}

}  // namespace

c10::DeviceAllocator* getDeviceAllocator() {
  return current().load(std::memory_order_acquire);
}

void setDeviceAllocator(c10::DeviceAllocator* allocator) {
  current().store(allocator, std::memory_order_release);
  c10::SetAllocator(c10::DeviceType::PrivateUse1, allocator);
}

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
std::vector<StreamSegmentSize> OpenRegAllocator::getExpandableSegmentSizes(c10::DeviceIndex) { return {}; }
SnapshotInfo OpenRegAllocator::snapshot(MempoolId_t, bool) { not_supported("snapshot"); }

void OpenRegAllocator::beginAllocateToPool(c10::DeviceIndex, MempoolId_t, StreamFilter) {
  not_supported("beginAllocateToPool");
}
void OpenRegAllocator::endAllocateToPool(c10::DeviceIndex, MempoolId_t) { not_supported("endAllocateToPool"); }
void OpenRegAllocator::releasePool(c10::DeviceIndex, MempoolId_t) { not_supported("releasePool"); }
int OpenRegAllocator::getPoolUseCount(c10::DeviceIndex, MempoolId_t) { not_supported("getPoolUseCount"); }
void OpenRegAllocator::createOrIncrefPool(c10::DeviceIndex, MempoolId_t, std::shared_ptr<OpenRegAllocator>) {
  not_supported("createOrIncrefPool");
}
void OpenRegAllocator::setUseOnOOM(c10::DeviceIndex, MempoolId_t, bool) { not_supported("setUseOnOOM"); }
void OpenRegAllocator::setNoSplit(c10::DeviceIndex, MempoolId_t) { not_supported("setNoSplit"); }

bool OpenRegAllocator::checkPoolLiveAllocations(c10::DeviceIndex, MempoolId_t, const std::unordered_set<void*>&) {
  not_supported("checkPoolLiveAllocations");
}
void OpenRegAllocator::markCaptureBegin(c10::DeviceIndex) {}
void OpenRegAllocator::markCaptureEnd(c10::DeviceIndex) {}

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
std::shared_ptr<AllocatorState> OpenRegAllocator::getCheckpointState(c10::DeviceIndex, MempoolId_t) {
  not_supported("getCheckpointState");
}
CheckpointDelta OpenRegAllocator::setCheckpointPoolState(c10::DeviceIndex, std::shared_ptr<AllocatorState>) {
  not_supported("setCheckpointPoolState");
}

OpenRegAllocator& getCurrentAllocator() {
  auto* const allocator = dynamic_cast<OpenRegAllocator*>(getDeviceAllocator());
  TORCH_CHECK(allocator != nullptr, "openreg: the device's allocator is none of this backend's");
  return *allocator;
}

std::shared_ptr<OpenRegAllocator> getCurrentAllocatorShared() {
  const std::lock_guard<std::mutex> lock(change_mutex());
  if (custom_allocator()) {
    return custom_allocator();
  }
  return {std::shared_ptr<void>(), &getCurrentAllocator()};  // never destroyed, so nothing is owned
}

bool registerFreeMemoryCallback(std::function<bool()> callback) {
  const std::lock_guard<std::mutex> lock(change_mutex());
  free_memory_callbacks().push_back(std::move(callback));
  return true;
}

bool callFreeMemoryCallbacks() {
  std::vector<std::function<bool()>> callbacks;
  {
    const std::lock_guard<std::mutex> lock(change_mutex());
    callbacks = free_memory_callbacks();
  }
  bool any = false;
  for (const auto& callback : callbacks) {
    any = callback() || any;
  }
  return any;
}

void changeCurrentAllocator(std::shared_ptr<OpenRegAllocator> allocator) {
  TORCH_CHECK(allocator != nullptr, "openreg: change_current_allocator() needs an allocator");
  const std::lock_guard<std::mutex> lock(change_mutex());
  TORCH_CHECK(
      !is_initialized(),
      "Can't swap an already initialized allocator: openreg was used before. "
      "Call change_current_allocator() before the first tensor or stream is made.");
  setDeviceAllocator(allocator.get());
  custom_allocator() = std::move(allocator);
}

namespace {

const c10::AllocatorRegisterer<c10::DeviceType::PrivateUse1> device_allocator_registered(getDeviceAllocator());

}  // namespace

}  // namespace openreg
