// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/caching/Block.h"

// Note [Finding the best fit]
// The free blocks of one pool and stream, to be asked for the smallest that is large enough. Sizes are multiples of
// kUnit, so those up to kSmallBuffer have a bin each, and a bitmap of two levels says which bins are not empty: finding,
// adding and taking cost a few instructions and touch no other block. Larger blocks, which are few, are in a tree.
// Of equal ones the last freed is taken, since its memory is the most likely to be in a cache.

namespace openreg::caching {

class FreeBlocks {
 public:
  FreeBlocks() = default;
  FreeBlocks(const FreeBlocks&) = delete;
  FreeBlocks& operator=(const FreeBlocks&) = delete;

  void insert(Block* block);
  void erase(Block* block);
  /// The smallest of at least `size` bytes, a multiple of kUnit; it stays in. Null if there is none.
  Block* best_fit(size_t size) const;

  /// Calls fn(block) for all, in no particular order; fn must not change the list.
  template <typename Fn>
  void for_each(Fn fn) const {
    if (bins_ != nullptr) {
      for (Block* head : bins_->heads) {
        for (Block* block = head; block != nullptr; block = block->bin_next) {
          fn(block);
        }
      }
    }
    for (Block* block : tree_) {
      fn(block);
    }
  }

 private:
  static constexpr size_t kLargestBin = c10::CachingAllocator::kSmallBuffer;
  static constexpr size_t kBins = kLargestBin / kUnit + 1;  // bin i: blocks of i units; the first stays empty
  static constexpr size_t kWords = (kBins + 63) / 64;
  static constexpr size_t kNone = ~size_t{0};

  struct Bins {
    std::array<Block*, kBins> heads{};
    std::array<uint64_t, kWords> used{};  // a bit a bin
    std::array<uint64_t, (kWords + 63) / 64> used_words{};  // a bit a word of `used`
  };

  size_t first_used(size_t bin) const;

  std::unique_ptr<Bins> bins_;  // made by the first block that needs it
  BlocksBySize tree_;
};

}  // namespace openreg::caching
