// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/caching/FreeBlocks.h"

#include <bit>
#include <utility>

namespace openreg::caching {

void FreeBlocks::insert(Block* block) {
  if (block->size > kLargestBin) {
    if (block->tree_node.empty()) {
      block->in_tree = tree_.insert(block).first;
    } else {
      block->tree_node.value() = block;
      block->in_tree = tree_.insert(std::move(block->tree_node)).position;
    }
    return;
  }
  if (bins_ == nullptr) {
    bins_ = std::make_unique<Bins>();
  }
  const size_t bin = block->size / kUnit;
  Block*& head = bins_->heads[bin];
  block->bin_prev = nullptr;
  block->bin_next = head;
  if (head != nullptr) {
    head->bin_prev = block;
  } else {
    bins_->used[bin / 64] |= uint64_t{1} << bin % 64;
    bins_->used_words[bin / 64 / 64] |= uint64_t{1} << bin / 64 % 64;
  }
  head = block;
}

void FreeBlocks::erase(Block* block) {
  if (block->size > kLargestBin) {
    block->tree_node = tree_.extract(block->in_tree);
    return;
  }
  if (block->bin_next != nullptr) {
    block->bin_next->bin_prev = block->bin_prev;
  }
  if (block->bin_prev != nullptr) {
    block->bin_prev->bin_next = block->bin_next;
    return;
  }
  const size_t bin = block->size / kUnit;
  bins_->heads[bin] = block->bin_next;
  if (block->bin_next != nullptr) {
    return;
  }
  uint64_t& word = bins_->used[bin / 64];
  word &= ~(uint64_t{1} << bin % 64);
  if (word == 0) {
    bins_->used_words[bin / 64 / 64] &= ~(uint64_t{1} << bin / 64 % 64);
  }
}

// The first bin from `bin` on that holds a block, or kNone.
size_t FreeBlocks::first_used(size_t bin) const {
  size_t word = bin / 64;
  const uint64_t here = bins_->used[word] >> bin % 64 << bin % 64;
  if (here != 0) {
    return word * 64 + static_cast<size_t>(std::countr_zero(here));
  }
  ++word;
  for (size_t group = word / 64; group < bins_->used_words.size(); ++group) {
    uint64_t words = bins_->used_words[group];
    if (group == word / 64) {
      words = words >> word % 64 << word % 64;
    }
    if (words != 0) {
      const size_t found = group * 64 + static_cast<size_t>(std::countr_zero(words));
      return found * 64 + static_cast<size_t>(std::countr_zero(bins_->used[found]));
    }
  }
  return kNone;
}

Block* FreeBlocks::best_fit(size_t size) const {
  if (bins_ != nullptr && size <= kLargestBin) {
    const size_t bin = first_used(size / kUnit);
    if (bin != kNone) {
      return bins_->heads[bin];
    }
  }
  const auto found = tree_.lower_bound(size);
  return found == tree_.end() ? nullptr : *found;
}

}  // namespace openreg::caching
