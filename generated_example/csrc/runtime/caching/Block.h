// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include <c10/core/AllocatorConfig.h>
#include <c10/core/CachingDeviceAllocator.h>

// Note [Segments and blocks]
// A segment is memory allocated from the device in one piece. It is cut into blocks, which form a list in the order of their
// addresses and fill it without gaps. A free block is in the free list of its pool and stream (FreeBlocks.h); two
// neighbours are never both free, as they would have been joined. The block that a stream freed last is not joined yet
// (Note [The warm block] in DeviceCache.h).
//
// Ownership: DeviceCache.h's. Threads: all is guarded by the device's lock. A block that is kBusy belongs to the one
// thread that is making a device call for it without the lock, so nobody else may join or take it.

namespace openreg::caching {

constexpr size_t kAlignment = 64;  // allocator.alignment
/// Sizes and addresses of blocks are multiples of it, as far as the device's own addresses are.
constexpr size_t kUnit = kAlignment > c10::CachingAllocator::kMinBlockSize ? kAlignment : c10::CachingAllocator::kMinBlockSize;

enum class BlockState : uint8_t {
  kFree,  // in a free list
  kWarm,  // free, but not joined with its neighbours yet: the one that its pool and stream freed last
  kAllocated,
  kPending,  // freed by its owner, but a stream that used it isn't done yet
  kBusy,  // being mapped, unmapped or given back
  kUnmapped,  // addresses without memory, in an expandable segment
};

/// A stream of any device. A null handle alone would not say which device's default stream it is.
struct StreamUse {
  orStream_t stream;
  c10::DeviceIndex device;
  bool operator==(const StreamUse&) const = default;
};

/// How many more inactive split blocks there are, and bytes in them.
struct SplitChange {
  int64_t blocks = 0;
  int64_t bytes = 0;
};

struct Block;
struct BlockPool;
struct StreamBlocks;
class ExpandableSegment;

struct BySize {
  using is_transparent = void;  // also to look up by a size alone
  inline bool operator()(const Block* a, const Block* b) const;
  inline bool operator()(const Block* block, size_t size) const;
  inline bool operator()(size_t size, const Block* block) const;
};
using BlocksBySize = std::set<Block*, BySize>;

struct Segment {
  char* base = nullptr;
  size_t size = 0;  // of an expandable one: of its addresses
  size_t mapped = 0;  // bytes with memory; the size, unless expandable
  BlockPool* pool = nullptr;
  StreamBlocks* home = nullptr;
  Block* first = nullptr;
  bool oversize = false;  // was larger than max_split_size when it was made
  std::shared_ptr<ExpandableSegment> expandable;  // its SegmentSource's (Extensions.h); null for an ordinary segment
  std::shared_ptr<c10::GatheredContext> context;  // of the allocation it was made for
};

struct Block {
  char* ptr = nullptr;
  size_t size = 0;
  size_t requested = 0;  // by its owner; stays until it is free
  Segment* segment = nullptr;
  Block* prev = nullptr;  // neighbours in the segment
  Block* next = nullptr;
  BlockState state = BlockState::kBusy;
  bool oversize = false;  // counted in oversize_allocations
  uint32_t pending_events = 0;
  uint64_t freed_at = 0;  // the pool's clock

  Block* bin_prev = nullptr;  // in a bin of the free list
  Block* bin_next = nullptr;
  BlocksBySize::iterator in_tree;  // in its tree
  BlocksBySize::node_type tree_node;  // kept while it is not there, so that coming back allocates nothing

  std::vector<StreamUse> stream_uses;  // by recordStream; never the segment's own stream
  std::shared_ptr<c10::GatheredContext> context;  // of the allocation; kept while RecordContext asks for it

  char* end() const { return ptr + size; }
  bool is_split() const { return prev != nullptr || next != nullptr; }
  /// Whether it is all of its segment, which can be given back as it is once the block is free.
  bool is_whole() const { return !is_split() && segment->expandable == nullptr; }
};

inline bool BySize::operator()(const Block* a, const Block* b) const {
  return a->size != b->size ? a->size < b->size : a->ptr < b->ptr;
}
inline bool BySize::operator()(const Block* block, size_t size) const {
  return block->size < size;
}
inline bool BySize::operator()(size_t size, const Block* block) const {
  return size < block->size;
}

}  // namespace openreg::caching
