// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/DeviceScope.h"
#include "runtime/caching/DeviceCache.h"

#include <algorithm>
#include <utility>

#include "runtime/Functions.h"
#include "runtime/caching/Settings.h"

namespace openreg::caching {

namespace {

// Larger requests could overflow when they are rounded; no device has so much.
constexpr size_t kLargestRequest = size_t{1} << 62;

}  // namespace

DeviceCache::DeviceCache(c10::DeviceIndex device, SharedState& shared)
    : device_(device),
      shared_(shared),
      source_(extensions.make_segment_source == nullptr ? nullptr : extensions.make_segment_source(*this)) {}

DeviceCache::~DeviceCache() = default;

Totals DeviceCache::totals() const {
  return {static_cast<size_t>(stats_.allocated_bytes[0].current), static_cast<size_t>(stats_.reserved_bytes[0].current)};
}

Allocation DeviceCache::allocate(size_t size, orStream_t stream) {
  History* const history = recording();
  const Context context = history == nullptr ? nullptr : history->gather(RecordContext::STATE);
  std::vector<Context> dropped;  // destroyed after the lock is released
  Lock lock(mutex_);
  if (C10_UNLIKELY(!pending_.empty()) && !capturing()) {
    poll_events();
  }
  Request request{size, rounded_size(std::min(size, kLargestRequest)), nullptr, nullptr, &context, max_split_size()};
  request.pool = &pool_for(request.size, stream);
  request.home = &request.pool->of(stream);
  Block* block = take_free(request);
  if (C10_UNLIKELY(block == nullptr)) {
    block = grow(lock, request);
  }
  hand_out(block, request);
  dropped.swap(dropped_);
  return {block->ptr, block->size, totals()};
}

BlockPool& DeviceCache::pool_for(size_t size, orStream_t stream) {
  const bool small = size <= c10::CachingAllocator::kSmallSize;
  if (C10_UNLIKELY(pools_ != nullptr) && pools_->routes > 0) {
    if (BlockPool* pool = pools_->pool_for(small, stream)) {
      return *pool;
    }
  }
  return small ? small_ : large_;
}

Block* DeviceCache::take_free(const Request& request) {
  ++request.pool->clock;
  return take_free_from(request, *request.home);
}

Block* DeviceCache::take_free_from(const Request& request, StreamBlocks& home) {
  if (home.warm != nullptr) {
    if (C10_LIKELY(home.warm->size == request.size)) {
      Block* block = std::exchange(home.warm, nullptr);
      count_splits(stats_, *home.pool, {-home.warm_change.blocks, -home.warm_change.bytes});
      return block;
    }
    settle(home);
  }
  Block* block = home.free.best_fit(request.size);
  if (block == nullptr || !fits(request, *block)) {
    return nullptr;
  }
  unlist(block);
  return block;
}

// With max_split_size, large blocks are for large requests, and are not taken where much of them would be wasted.
bool DeviceCache::fits(const Request& request, const Block& block) const {
  if (request.size < request.max_split) {
    return block.size < request.max_split;
  }
  return block.size - request.size < max_non_split_rounding_size();
}

bool DeviceCache::should_split(const Block& block, const Request& request) const {
  const BlockPool& pool = *block.segment->pool;
  const size_t rest = block.size - request.size;
  if (rest == 0 || (pool.owner != nullptr && pool.owner->no_split)) {
    return false;
  }
  if (pool.is_small || block.segment->expandable != nullptr) {
    return rest >= kUnit;
  }
  return request.size < request.max_split && rest > c10::CachingAllocator::kSmallSize;
}

// `block` is in no list; becomes the request's.
void DeviceCache::hand_out(Block* block, const Request& request) {
  if (should_split(*block, request)) {
    split(block, request.size);
  }
  if (block->state != BlockState::kWarm) {  // a warm one still has its entry
    by_address_.emplace(block->ptr, block);
  }
  block->state = BlockState::kAllocated;
  block->requested = request.requested;
  if (C10_UNLIKELY(*request.context != nullptr)) {
    drop(std::exchange(block->context, *request.context));
  }
  if (C10_UNLIKELY(block->size >= request.max_split)) {
    block->oversize = true;
    stats_.oversize_allocations.increase(1);
  }
  count_allocated(stats_, *block);
  trace(TraceEntry::ALLOC, *block, block->context, RecordContext::ALLOC);
}

// Cuts `block`, which is in no list, to `size`; the rest becomes a free block.
void DeviceCache::split(Block* block, size_t size) {
  Block* rest = new_block();
  rest->segment = block->segment;
  rest->ptr = block->ptr + size;
  rest->size = block->size - size;
  rest->prev = block;
  rest->next = block->next;
  if (rest->next != nullptr) {
    rest->next->prev = rest;
  }
  block->next = rest;
  block->size = size;
  make_free(rest);
}

// The same, but the first `size` bytes become the free block.
void DeviceCache::split_front(Block* block, size_t size) {
  Block* head = new_block();
  head->segment = block->segment;
  head->ptr = block->ptr;
  head->size = size;
  head->prev = block->prev;
  head->next = block;
  if (head->prev != nullptr) {
    head->prev->next = head;
  } else {
    block->segment->first = head;
  }
  block->prev = head;
  block->ptr += size;
  block->size -= size;
  make_free(head);
}

// Makes `block`, which is in no list, free at once.
void DeviceCache::make_free(Block* block) {
  settle(*block->segment->home);  // what was counted for a warm block relies on its neighbours staying as they are
  count_splits(stats_, *block->segment->pool, change_by_joining(*block));
  block->freed_at = block->segment->pool->clock;
  join_free(block);
}

void DeviceCache::settle(StreamBlocks& home) {
  if (home.warm != nullptr) {
    Block* block = std::exchange(home.warm, nullptr);
    by_address_.erase(block->ptr);
    join_free(block);
  }
}

void DeviceCache::settle(BlockPool& pool) {
  for (const auto& blocks : pool.streams()) {
    settle(*blocks);
  }
}

void DeviceCache::settle_all() {
  settle(small_);
  settle(large_);
  if (pools_ != nullptr) {
    pools_->for_each([this](BlockPool& pool) { settle(pool); });
  }
}

// Joins `block`, which is in no list, with free neighbours and puts the result into its free list. Counts nothing.
void DeviceCache::join_free(Block* block) {
  FreeBlocks& list = block->segment->home->free;
  for (Block* neighbour : {block->prev, block->next}) {
    if (neighbour != nullptr && neighbour->state == BlockState::kFree) {
      list.erase(neighbour);
      absorb(block, neighbour);
    }
  }
  block->state = BlockState::kFree;
  block->requested = 0;
  list.insert(block);
}

// `neighbour`, which is in no list either, becomes a part of `block`.
void DeviceCache::absorb(Block* block, Block* neighbour) {
  block->size += neighbour->size;
  if (neighbour == block->prev) {
    block->ptr = neighbour->ptr;
    block->prev = neighbour->prev;
    if (block->prev != nullptr) {
      block->prev->next = block;
    } else {
      block->segment->first = block;
    }
  } else {
    block->next = neighbour->next;
    if (block->next != nullptr) {
      block->next->prev = block;
    }
  }
  recycle(neighbour);
}

void DeviceCache::unlist(Block* block) {
  count_taken(stats_, *block);
  block->segment->home->free.erase(block);
  block->state = BlockState::kBusy;
}

bool DeviceCache::free(void* ptr, Allocation* freed) {
  History* const history = recording();
  const Context context = history == nullptr ? nullptr : history->gather_or_none(RecordContext::ALL);
  std::vector<Context> dropped;  // destroyed after the lock is released
  Lock lock(mutex_);
  Block* block = find_allocated(ptr);
  if (block == nullptr) {
    return false;
  }
  block->state = BlockState::kPending;
  count_freed(stats_, *block);
  if (C10_UNLIKELY(block->oversize)) {
    block->oversize = false;
    stats_.oversize_allocations.decrease(1);
  }
  *freed = {ptr, block->size, totals()};
  trace(TraceEntry::FREE_REQUESTED, *block, context, RecordContext::ALL);
  if (C10_LIKELY(block->stream_uses.empty())) {
    Context of_allocation = std::move(block->context);
    retire(block, context != nullptr ? context : of_allocation);
    drop(std::move(of_allocation));
  } else if (capturing()) {
    pools_->deferred.push_back(block);
  } else {
    wait_for_uses(lock, block);
  }
  dropped.swap(dropped_);
  return true;
}

// Nobody uses `block` any more.
void DeviceCache::retire(Block* block, const Context& context) {
  trace(TraceEntry::FREE_COMPLETED, *block, context, RecordContext::ALL);
  count_inactive(stats_, *block);
  StreamBlocks& home = *block->segment->home;
  settle(home);
  home.warm_change = change_by_joining(*block);
  count_splits(stats_, *home.pool, home.warm_change);
  block->freed_at = home.pool->clock;
  block->requested = 0;
  block->state = BlockState::kWarm;
  home.warm = block;
  if (block->prev != nullptr && block->prev->state == BlockState::kFree) {
    settle(home);
  }
}

void DeviceCache::poll_events() {
  pending_.poll([this](Block* block) {
    finish_event(block);
  });
}

void DeviceCache::finish_event(Block* block) {
  if (--block->pending_events == 0) {
    Context context = std::move(block->context);
    retire(block, context);
    drop(std::move(context));
  }
}

// The streams that used `block`, which is pending, get an event each. Nobody else touches a pending block.
void DeviceCache::wait_for_uses(Lock& lock, Block* block) {
  const std::vector<StreamUse> uses = std::move(block->stream_uses);
  block->stream_uses.clear();
  block->pending_events = static_cast<uint32_t>(uses.size());
  std::vector<orEvent_t> events;
  events.reserve(uses.size());
  {
    const ScopedUnlock unlocked(lock);
    for (const StreamUse& use : uses) {
      const DeviceScope scope(use.device);
      events.push_back(scope.error() == orSuccess ? EventPool::get().record(use) : nullptr);
    }
  }
  for (size_t i = 0; i < uses.size(); ++i) {
    pending_.add(uses[i], events[i], block);
  }
}

bool DeviceCache::record_stream(void* ptr, const StreamUse& use) {
  const Lock lock(mutex_);
  Block* block = find_allocated(ptr);
  if (block == nullptr) {
    return false;
  }
  auto& uses = block->stream_uses;
  const StreamUse own{block->segment->home->stream, device_};
  if (!(use == own) && std::find(uses.begin(), uses.end(), use) == uses.end()) {
    uses.push_back(use);
  }
  return true;
}

bool DeviceCache::base_allocation(void* ptr, void** base, size_t* size) {
  const Lock lock(mutex_);
  const Block* first = find_allocated(ptr);
  if (first == nullptr) {
    return false;
  }
  // Of an expandable segment, the part around the block that has memory.
  const Block* last = first;
  while (first->prev != nullptr && first->prev->state != BlockState::kUnmapped) {
    first = first->prev;
  }
  while (last->next != nullptr && last->next->state != BlockState::kUnmapped) {
    last = last->next;
  }
  *base = first->ptr;
  *size = static_cast<size_t>(last->end() - first->ptr);
  return true;
}

Context DeviceCache::context_of(const void* ptr) {
  const Lock lock(mutex_);
  const Block* block = find_allocated(ptr);
  return block == nullptr ? nullptr : block->context;
}

Block* DeviceCache::find_allocated(const void* ptr) {
  const auto found = by_address_.find(ptr);
  const bool there = found != by_address_.end() && found->second->state == BlockState::kAllocated;
  return there ? found->second : nullptr;
}

Block* DeviceCache::new_block() {
  if (spare_blocks_.empty()) {
    return &all_blocks_.emplace_back();
  }
  Block* block = spare_blocks_.back();
  spare_blocks_.pop_back();
  return block;
}

void DeviceCache::recycle(Block* block) {
  block->segment = nullptr;
  block->prev = nullptr;
  block->next = nullptr;
  block->state = BlockState::kBusy;
  spare_blocks_.push_back(block);
}

}  // namespace openreg::caching
