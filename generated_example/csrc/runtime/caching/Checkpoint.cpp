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
    const Context context = std::move(block->context);
    retire(block, context);
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
}

}  // namespace openreg::caching
