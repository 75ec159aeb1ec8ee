// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>

#include <c10/util/Exception.h>

#include "runtime/caching/DeviceCache.h"
#include "runtime/caching/ExpandableSegment.h"
#include "runtime/caching/Settings.h"

// Note [Checkpoints of a pool]
// Graphs that are recorded one after the other share a pool, and each must find it as it was when it was recorded: what
// was allocated is allocated, what was free is free. A checkpoint lists a pool's allocated blocks. Restoring frees all
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

std::shared_ptr<AllocatorState> DeviceCache::checkpoint(c10::MempoolId_t id) {
  const Lock lock(mutex_);
  const PrivatePool& pool = pool_at(id);
  auto state = std::make_shared<PoolState>();
  state->id = id;
  state->device = device_;
  for (const auto& [base, segment] : segments_) {
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

void DeviceCache::restore(const AllocatorState& any, std::vector<void*>& freed, std::vector<void*>& allocated) {
  const auto* state = dynamic_cast<const PoolState*>(&any);
  TORCH_CHECK(state != nullptr && state->device == device_, "openreg: the state is not one of this allocator and device");
  std::vector<Context> dropped;  // destroyed after the lock is released
  const Lock lock(mutex_);
  const PrivatePool& pool = pool_at(state->id);
  // First what could be wrong, so that nothing is half restored.
  std::vector<Block*> current;
  for (const auto& [base, segment] : segments_) {
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
    const auto segment = segments_.find(base);
    for (const SavedBlock& saved : blocks) {
      TORCH_CHECK(
          segment != segments_.end() && segment->second->pool->owner == &pool && has_memory(*segment->second, saved),
          "openreg: a segment of the pool's checkpoint was given back to the device");
    }
  }
  for (Block* block : current) {
    freed.push_back(block->ptr);
    block->state = BlockState::kPending;
    if (block->oversize) {
      block->oversize = false;
      stats_.oversize_allocations.decrease(1);
    }
    count_freed(stats_, *block);
    Context context = std::move(block->context);
    retire(block, context);
    trace_.drop(std::move(context));
  }
  settle_all();
  for (const auto& [base, blocks] : state->segments) {
    if (blocks.empty()) {
      continue;
    }
    Segment& segment = *segments_.at(base);
    for (const SavedBlock& saved : blocks) {
      Block* block = segment.first;
      while (block->end() <= saved.ptr) {
        block = block->next;
      }
      unlist(block);
      if (saved.ptr > block->ptr) {
        split_front(block, static_cast<size_t>(saved.ptr - block->ptr));
      }
      if (block->size > saved.size) {
        split(block, saved.size);
      }
      const Request request{saved.requested, saved.size, segment.pool, segment.home, &saved.context, max_split_size()};
      hand_out(block, request);
      allocated.push_back(block->ptr);
    }
  }
  trace_.take_dropped(dropped);
}

}  // namespace openreg::caching
