// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/caching/PrivatePools.h"

#include <algorithm>

#include <c10/util/Exception.h>

#include "runtime/caching/CachingAllocator.h"
#include "runtime/caching/Settings.h"

// Note [Checkpoints of a pool]
// Graphs that are recorded in sequence share a pool, and each must find it in the state of its recording: the same blocks
// allocated, the same blocks free. A checkpoint lists a pool's allocated blocks. Restoring frees all
// that is allocated now and carves the blocks of the checkpoint out of the same segments. It does not touch memory.

namespace openreg::caching {

namespace {

struct SavedBlock {
  char* ptr;
  size_t size;
  size_t requested;
  Context context;
};

struct PoolState final : AllocatorState {
  c10::MempoolId_t id;
  c10::DeviceIndex device = -1;
  std::vector<std::pair<char*, std::vector<SavedBlock>>> segments;  // by base
};

/// Calls fn(block) for each block of a segment, by address.
template <class Fn>
void for_each_block(const Segment& segment, Fn fn) {
  for (Block* block = segment.first; block != nullptr; block = block->next) {
    fn(block);
  }
}

// Whether the saved block lies in memory that the segment still has.
bool has_memory(const Segment& segment, const SavedBlock& saved) {
  if (saved.ptr < segment.base || saved.ptr + saved.size > segment.base + segment.size) {
    return false;
  }
  bool mapped = true;
  for_each_block(segment, [&](const Block* block) {
    const bool apart = block->end() <= saved.ptr || saved.ptr + saved.size <= block->ptr;
    mapped = mapped && (apart || block->state != BlockState::kUnmapped);
  });
  return mapped;
}

}  // namespace

PrivatePools& PrivatePools::of(c10::DeviceIndex device) {
  DeviceCache& cache = cache_of(device);
  const Lock lock(cache.mutex_);
  if (cache.pools_ == nullptr) {
    cache.pools_ = std::make_unique<PrivatePools>(cache);
  }
  return static_cast<PrivatePools&>(*cache.pools_);
}

BlockPool* PrivatePools::pool_for(bool small, orStream_t stream) {
  for (const auto& [pool, filter] : routes_) {
    if (filter(stream)) {
      return small ? &pool->small : &pool->large;
    }
  }
  return nullptr;
}

void PrivatePools::for_each(const std::function<void(BlockPool&)>& fn) {
  for (const auto& [id, pool] : pools_) {
    fn(pool->small);
    fn(pool->large);
  }
}

// A graph may use what is free in its pool again; other pools are emptied if it is they who are meant.
void PrivatePools::for_each_to_empty(c10::MempoolId_t id, const std::function<void(BlockPool&)>& fn) {
  const bool all = id == c10::MempoolId_t{0, 0};
  for (const auto& [pool_id, pool] : pools_) {
    if ((all || pool_id == id) && (pool->use_count == 0 || (pool_id == id && !pool->captured))) {
      fn(pool->small);
      fn(pool->large);
    }
  }
}

Block* PrivatePools::borrow(const Request& request) {
  for (const auto& [id, pool] : pools_) {
    if (pool->use_on_oom && pool.get() != request.pool->owner) {
      BlockPool& blocks = request.pool->is_small ? pool->small : pool->large;
      if (Block* block = cache_.take_free_from(request, blocks.of(request.home->stream))) {
        return block;
      }
    }
  }
  return nullptr;
}

void PrivatePools::erase_released() {
  std::erase_if(pools_, [](const auto& entry) {
    const PrivatePool& pool = *entry.second;
    return pool.use_count == 0 && pool.segments == 0 && pool.requests == 0;
  });
}

PrivatePool& PrivatePools::pool_at(c10::MempoolId_t id) {
  const auto found = pools_.find(id);
  TORCH_CHECK(
      found != pools_.end() && found->second->use_count > 0,
      "openreg: no memory pool (", id.first, ", ", id.second, ") on device ", static_cast<int>(cache_.device_));
  return *found->second;
}

void PrivatePools::create_or_incref(c10::MempoolId_t id, std::shared_ptr<OpenRegAllocator> allocator) {
  TORCH_CHECK((id != c10::MempoolId_t{0, 0}), "openreg: (0, 0) is not a private memory pool");
  const Lock lock(cache_.mutex_);
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

void PrivatePools::begin_allocate_to_pool(c10::MempoolId_t id, StreamFilter filter) {
  create_or_incref(id, nullptr);
  const Lock lock(cache_.mutex_);
  PrivatePool& pool = pool_at(id);
  const bool twice = std::any_of(routes_.begin(), routes_.end(), [&](const auto& route) { return route.first == &pool; });
  if (twice) {
    --pool.use_count;
    TORCH_CHECK(false, "openreg: beginAllocateToPool was called twice without endAllocateToPool");
  }
  pool.captured = pool.captured || captures > 0;
  routes_.emplace(routes_.begin(), &pool, std::move(filter));
  ++routes;
}

void PrivatePools::end_allocate_to_pool(c10::MempoolId_t id) {
  const Lock lock(cache_.mutex_);
  const auto route =
      std::find_if(routes_.begin(), routes_.end(), [&](const auto& each) { return each.first->id == id; });
  TORCH_CHECK(route != routes_.end(), "openreg: endAllocateToPool without beginAllocateToPool");
  routes_.erase(route);
  --routes;
}

void PrivatePools::release_pool(c10::MempoolId_t id) {
  const Lock lock(cache_.mutex_);
  PrivatePool& pool = pool_at(id);
  const bool routed = std::any_of(routes_.begin(), routes_.end(), [&](const auto& each) { return each.first == &pool; });
  TORCH_CHECK(!routed || pool.use_count > 1, "openreg: releasePool before endAllocateToPool");
  if (--pool.use_count == 0) {
    erase_released();
  }
}

int PrivatePools::use_count(c10::MempoolId_t id) {
  const Lock lock(cache_.mutex_);
  const auto found = pools_.find(id);
  return found == pools_.end() ? 0 : found->second->use_count;
}

void PrivatePools::set_use_on_oom(c10::MempoolId_t id, bool use) {
  const Lock lock(cache_.mutex_);
  pool_at(id).use_on_oom = use;
}

void PrivatePools::set_no_split(c10::MempoolId_t id) {
  const Lock lock(cache_.mutex_);
  pool_at(id).no_split = true;
}

bool PrivatePools::has_exactly(c10::MempoolId_t id, const std::unordered_set<void*>& expected) {
  const Lock lock(cache_.mutex_);
  const PrivatePool& pool = pool_at(id);
  size_t found = 0;
  bool others = false;
  for (const auto& [base, segment] : cache_.segments_) {
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
void PrivatePools::capture(bool begins) {
  Lock lock(cache_.mutex_);
  if (begins) {
    ++captures;
    for (const auto& [pool, filter] : routes_) {
      pool->captured = true;
    }
    return;
  }
  TORCH_CHECK(captures > 0, "openreg: markCaptureEnd without markCaptureBegin");
  if (--captures > 0) {
    return;
  }
  std::vector<Block*> blocks;
  blocks.swap(deferred);
  for (Block* block : blocks) {
    cache_.wait_for_uses(lock, block);
  }
}

std::shared_ptr<AllocatorState> PrivatePools::checkpoint(c10::MempoolId_t id) {
  const Lock lock(cache_.mutex_);
  const PrivatePool& pool = pool_at(id);
  auto state = std::make_shared<PoolState>();
  state->id = id;
  state->device = cache_.device_;
  for (const auto& [base, segment] : cache_.segments_) {
    if (segment->pool->owner != &pool) {
      continue;
    }
    std::vector<SavedBlock> blocks;
    for_each_block(*segment, [&](const Block* block) {
      if (block->state == BlockState::kAllocated) {
        blocks.push_back({block->ptr, block->size, block->requested, block->context});
      }
    });
    state->segments.emplace_back(base, std::move(blocks));
  }
  return state;
}

void PrivatePools::restore(const AllocatorState& any, std::vector<void*>& freed, std::vector<void*>& allocated) {
  const auto* state = dynamic_cast<const PoolState*>(&any);
  TORCH_CHECK(state != nullptr && state->device == cache_.device_, "openreg: the state is not one of this allocator and device");
  std::vector<Context> dropped;  // destroyed after the lock is released
  const Lock lock(cache_.mutex_);
  const PrivatePool& pool = pool_at(state->id);
  // First what could be wrong, so that nothing is half restored.
  std::vector<Block*> current;
  for (const auto& [base, segment] : cache_.segments_) {
    if (segment->pool->owner == &pool) {
      for_each_block(*segment, [&](Block* block) {
        const bool busy = block->state == BlockState::kPending || block->state == BlockState::kBusy;
        TORCH_CHECK(!busy && block->stream_uses.empty(), "openreg: a block of the pool is in use by a stream");
        if (block->state == BlockState::kAllocated) {
          current.push_back(block);
        }
      });
    }
  }
  for (const auto& [base, blocks] : state->segments) {
    const auto segment = cache_.segments_.find(base);
    for (const SavedBlock& saved : blocks) {
      TORCH_CHECK(
          segment != cache_.segments_.end() && segment->second->pool->owner == &pool && has_memory(*segment->second, saved),
          "openreg: a segment of the pool's checkpoint was given back to the device");
    }
  }
  for (Block* block : current) {
    freed.push_back(block->ptr);
    block->state = BlockState::kPending;
    if (block->oversize) {
      block->oversize = false;
      cache_.stats_.oversize_allocations.decrease(1);
    }
    count_freed(cache_.stats_, *block);
    Context context = std::move(block->context);
    cache_.retire(block, context);
    cache_.drop(std::move(context));
  }
  cache_.settle_all();
  for (const auto& [base, blocks] : state->segments) {
    if (blocks.empty()) {
      continue;
    }
    Segment& segment = *cache_.segments_.at(base);
    for (const SavedBlock& saved : blocks) {
      Block* block = segment.first;
      while (block->end() <= saved.ptr) {
        block = block->next;
      }
      cache_.unlist(block);
      if (saved.ptr > block->ptr) {
        cache_.split_front(block, static_cast<size_t>(saved.ptr - block->ptr));
      }
      if (block->size > saved.size) {
        cache_.split(block, saved.size);
      }
      const Request request{saved.requested, saved.size, segment.pool, segment.home, &saved.context, max_split_size()};
      cache_.hand_out(block, request);
      allocated.push_back(block->ptr);
    }
  }
  dropped.swap(cache_.dropped_);
}

namespace {

/// The pools of the caching allocator.
class CachingPools final : public PoolAllocator {
 public:
  void createOrIncrefPool(c10::DeviceIndex device, c10::MempoolId_t id, std::shared_ptr<OpenRegAllocator> allocator) override {
    PrivatePools::of(device).create_or_incref(id, std::move(allocator));
  }
  void beginAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t id, StreamFilter filter) override {
    PrivatePools::of(device).begin_allocate_to_pool(id, std::move(filter));
  }
  void endAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t id) override {
    PrivatePools::of(device).end_allocate_to_pool(id);
  }
  void releasePool(c10::DeviceIndex device, c10::MempoolId_t id) override { PrivatePools::of(device).release_pool(id); }
  int getPoolUseCount(c10::DeviceIndex device, c10::MempoolId_t id) override { return PrivatePools::of(device).use_count(id); }
  void setUseOnOOM(c10::DeviceIndex device, c10::MempoolId_t id, bool use) override {
    PrivatePools::of(device).set_use_on_oom(id, use);
  }
  void setNoSplit(c10::DeviceIndex device, c10::MempoolId_t id) override { PrivatePools::of(device).set_no_split(id); }
  bool checkPoolLiveAllocations(
      c10::DeviceIndex device, c10::MempoolId_t id, const std::unordered_set<void*>& expected) override {
    return PrivatePools::of(device).has_exactly(id, expected);
  }
  void markCaptureBegin(c10::DeviceIndex device) override { PrivatePools::of(device).capture(true); }
  void markCaptureEnd(c10::DeviceIndex device) override { PrivatePools::of(device).capture(false); }
  std::shared_ptr<AllocatorState> getCheckpointState(c10::DeviceIndex device, c10::MempoolId_t id) override {
    return PrivatePools::of(device).checkpoint(id);
  }
  CheckpointDelta setCheckpointPoolState(c10::DeviceIndex device, std::shared_ptr<AllocatorState> state) override {
    TORCH_CHECK(state != nullptr, "openreg: no state of a pool was given");
    const c10::Device of(c10::DeviceType::PrivateUse1, cache_of(device).device());
    CheckpointDelta delta;
    std::vector<void*> allocated;
    PrivatePools::of(device).restore(*state, delta.ptrs_freed, allocated);
    for (void* ptr : allocated) {
      delta.dataptrs_allocd.emplace_back(ptr, ptr, getCachingAllocator()->raw_deleter(), of);
    }
    return delta;
  }
};

[[maybe_unused]] const bool pools_attached = [] {
  static CachingPools pools;
  extensions.pools = &pools;
  return true;
}();

}  // namespace

}  // namespace openreg::caching
