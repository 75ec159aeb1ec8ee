// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>

#include <c10/util/Exception.h>

#include "runtime/caching/DeviceCache.h"
#include "runtime/caching/ExpandableSegment.h"

namespace openreg::caching {

PrivatePool& DeviceCache::pool_at(c10::MempoolId_t id) {
  const auto found = pools_.find(id);
  TORCH_CHECK(
      found != pools_.end() && found->second->use_count > 0,
      "openreg: there is no memory pool (", id.first, ", ", id.second, ") on device ", static_cast<int>(device_));
  return *found->second;
}

void DeviceCache::create_or_incref(c10::MempoolId_t id, std::shared_ptr<OpenRegAllocator> allocator) {
  TORCH_CHECK((id != c10::MempoolId_t{0, 0}), "openreg: (0, 0) is no memory pool of one's own");
  const Lock lock(mutex_);
  auto found = pools_.find(id);
  if (found == pools_.end()) {
    auto pool = std::make_unique<PrivatePool>(id);
    pool->allocator = std::move(allocator);
    found = pools_.emplace(id, std::move(pool)).first;
  } else {
    TORCH_CHECK(
        allocator == nullptr || allocator == found->second->allocator, "openreg: the memory pool has another allocator");
  }
  ++found->second->use_count;
}

void DeviceCache::begin_allocate_to_pool(c10::MempoolId_t id, StreamFilter filter) {
  create_or_incref(id, nullptr);
  const Lock lock(mutex_);
  PrivatePool& pool = pool_at(id);
  const bool twice = std::any_of(routes_.begin(), routes_.end(), [&](const auto& route) { return route.first == &pool; });
  if (twice) {
    --pool.use_count;
    TORCH_CHECK(false, "openreg: beginAllocateToPool was called twice without endAllocateToPool");
  }
  pool.captured = pool.captured || captures_ > 0;
  routes_.emplace(routes_.begin(), &pool, std::move(filter));
}

void DeviceCache::end_allocate_to_pool(c10::MempoolId_t id) {
  const Lock lock(mutex_);
  const auto route =
      std::find_if(routes_.begin(), routes_.end(), [&](const auto& each) { return each.first->id == id; });
  TORCH_CHECK(route != routes_.end(), "openreg: endAllocateToPool without beginAllocateToPool");
  routes_.erase(route);
}

void DeviceCache::release_pool(c10::MempoolId_t id) {
  const Lock lock(mutex_);
  PrivatePool& pool = pool_at(id);
  const bool routed = std::any_of(routes_.begin(), routes_.end(), [&](const auto& each) { return each.first == &pool; });
  TORCH_CHECK(!routed || pool.use_count > 1, "openreg: releasePool before endAllocateToPool");
  if (--pool.use_count == 0) {
    erase_released_pools();
  }
}

int DeviceCache::use_count(c10::MempoolId_t id) {
  const Lock lock(mutex_);
  const auto found = pools_.find(id);
  return found == pools_.end() ? 0 : found->second->use_count;
}

void DeviceCache::set_use_on_oom(c10::MempoolId_t id, bool use) {
  const Lock lock(mutex_);
  pool_at(id).use_on_oom = use;
}

void DeviceCache::set_no_split(c10::MempoolId_t id) {
  const Lock lock(mutex_);
  pool_at(id).no_split = true;
}

bool DeviceCache::has_exactly(c10::MempoolId_t id, const std::unordered_set<void*>& expected) {
  const Lock lock(mutex_);
  const PrivatePool& pool = pool_at(id);
  size_t found = 0;
  bool others = false;
  for (const auto& [base, segment] : segments_) {
    if (segment->pool->owner == &pool) {
      for_each_block(*segment, [&](const Block* block) {
        if (block->state == BlockState::kAllocated) {
          expected.count(block->ptr) > 0 ? static_cast<void>(++found) : static_cast<void>(others = true);
        }
      });
    }
  }
  return !others && found == expected.size();
}

// During a capture no event may be recorded; what was freed then gets its events afterwards.
void DeviceCache::capture(bool begins) {
  Lock lock(mutex_);
  if (begins) {
    ++captures_;
    for (const auto& [pool, filter] : routes_) {
      pool->captured = true;
    }
    return;
  }
  TORCH_CHECK(captures_ > 0, "openreg: markCaptureEnd without markCaptureBegin");
  if (--captures_ > 0) {
    return;
  }
  std::vector<Block*> blocks;
  blocks.swap(deferred_);
  for (Block* block : blocks) {
    wait_for_uses(lock, block);
  }
}

}  // namespace openreg::caching
