// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <map>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/PoolAllocator.h"
#include "runtime/caching/DeviceCache.h"

namespace openreg::caching {

struct PrivatePool : PoolOwner {
  using PoolOwner::PoolOwner;

  int use_count = 0;  // 0: no longer used; its memory can go back to the device
  bool use_on_oom = false;
  bool captured = false;  // a graph was captured with it, and may use its free blocks again at any time
  BlockPool small{true, this};
  BlockPool large{false, this};
};

/// The private pools of one device. A cache calls these functions with its lock held; the other functions take the lock.
class PrivatePools final : public PoolRouter {
 public:
  explicit PrivatePools(DeviceCache& cache) : cache_(cache) {}
  /// Those of a device of this process.
  static PrivatePools& of(c10::DeviceIndex device);

  BlockPool* pool_for(bool small, orStream_t stream) override;
  void for_each(const std::function<void(BlockPool&)>& fn) override;
  void for_each_to_empty(c10::MempoolId_t id, const std::function<void(BlockPool&)>& fn) override;
  Block* borrow(const Request& request) override;
  void erase_released() override;

  void create_or_incref(c10::MempoolId_t id, std::shared_ptr<OpenRegAllocator> allocator);
  void begin_allocate_to_pool(c10::MempoolId_t id, StreamFilter filter);
  void end_allocate_to_pool(c10::MempoolId_t id);
  void release_pool(c10::MempoolId_t id);
  int use_count(c10::MempoolId_t id);
  void set_use_on_oom(c10::MempoolId_t id, bool use);
  void set_no_split(c10::MempoolId_t id);
  bool has_exactly(c10::MempoolId_t id, const std::unordered_set<void*>& expected);
  void capture(bool begins);
  std::shared_ptr<AllocatorState> checkpoint(c10::MempoolId_t id);
  /// What it allocates has no DataPtr yet: the caller makes them of `allocated`.
  void restore(const AllocatorState& state, std::vector<void*>& freed, std::vector<void*>& allocated);

 private:
  PrivatePool& pool_at(c10::MempoolId_t id);

  DeviceCache& cache_;
  std::map<c10::MempoolId_t, std::unique_ptr<PrivatePool>> pools_;
  std::vector<std::pair<PrivatePool*, StreamFilter>> routes_;  // of beginAllocateToPool; the latest first
};

}  // namespace openreg::caching
