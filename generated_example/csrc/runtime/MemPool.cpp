// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/MemPool.h"

#include <atomic>
#include <thread>
#include <utility>

#include "runtime/Exception.h"
#include "runtime/Functions.h"

namespace openreg {

namespace {

// As with torch.cuda: a user's pool has its number second, one of a graph capture first.
c10::MempoolId_t next_id(bool is_user_created) {
  static std::atomic<c10::CaptureId_t> users{1};
  static std::atomic<c10::CaptureId_t> graphs{1};
  return is_user_created ? c10::MempoolId_t{0, users++} : c10::MempoolId_t{graphs++, 0};
}

}  // namespace

MemPool::MemPool(
    std::shared_ptr<OpenRegAllocator> allocator, bool is_user_created, bool use_on_oom, bool no_split)
    : allocator_(std::move(allocator)), id_(next_id(is_user_created)), device_(current_device()) {
  PoolAllocator& current = current_pools();
  current.createOrIncrefPool(device_, id_, allocator_);
  try {
    if (use_on_oom) {
      current.setUseOnOOM(device_, id_, true);
    }
    if (no_split) {
      current.setNoSplit(device_, id_);
    }
  } catch (...) {
    current.releasePool(device_, id_);
    throw;
  }
}

MemPool::~MemPool() {
  never_throw("a memory pool was released", [this] {
    current_pools().releasePool(device_, id_);
    getCurrentAllocator().emptyCache(id_);
  });
}

int MemPool::use_count() const {
  return current_pools().getPoolUseCount(device_, id_);
}

c10::MempoolId_t new_graph_pool() {
  return next_id(/*is_user_created=*/false);
}

void beginAllocateCurrentThreadToPool(c10::DeviceIndex device, c10::MempoolId_t id) {
  const std::thread::id thread = std::this_thread::get_id();
  current_pools().beginAllocateToPool(
      device, id, [thread](orStream_t) { return std::this_thread::get_id() == thread; });
}

}  // namespace openreg
