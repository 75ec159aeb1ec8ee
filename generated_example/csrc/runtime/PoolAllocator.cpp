// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/PoolAllocator.h"

#include <cstdlib>

#include <c10/util/Exception.h>

namespace openreg {

namespace {

[[noreturn]] void not_supported(const char* function) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "openreg: the ", getCurrentAllocator().name(), " allocator has no ", function, "()",
      "; `allocator: {device: caching}` in the spec gives an allocator that has");
  std::abort();  // unreachable; the macro's throw is conditional to the compiler
}

}  // namespace

PoolAllocator& current_pools() {
  PoolAllocator* pools = getCurrentAllocator().pools();
  if (pools == nullptr) {
    not_supported("beginAllocateToPool");
  }
  return *pools;
}

int PoolAllocator::getPoolUseCount(c10::DeviceIndex, MempoolId_t) { not_supported("getPoolUseCount"); }
void PoolAllocator::createOrIncrefPool(c10::DeviceIndex, MempoolId_t, std::shared_ptr<OpenRegAllocator>) {
  not_supported("createOrIncrefPool");
}
void PoolAllocator::setUseOnOOM(c10::DeviceIndex, MempoolId_t, bool) { not_supported("setUseOnOOM"); }
void PoolAllocator::setNoSplit(c10::DeviceIndex, MempoolId_t) { not_supported("setNoSplit"); }
bool PoolAllocator::checkPoolLiveAllocations(c10::DeviceIndex, MempoolId_t, const std::unordered_set<void*>&) {
  not_supported("checkPoolLiveAllocations");
}
std::shared_ptr<AllocatorState> PoolAllocator::getCheckpointState(c10::DeviceIndex, MempoolId_t) {
  not_supported("getCheckpointState");
}
CheckpointDelta PoolAllocator::setCheckpointPoolState(c10::DeviceIndex, std::shared_ptr<AllocatorState>) {
  not_supported("setCheckpointPoolState");
}

}  // namespace openreg
