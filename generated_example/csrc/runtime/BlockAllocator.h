// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/MemoryAllocator.h"

// Note [Allocators that keep nothing]
// DirectAllocator with what torch.openreg.memory needs beside it: limits, observers, snapshots, messages that say why, and a
// second attempt after others gave memory back. Others override the two functions that memory comes from and goes to.

namespace openreg {

class OPENREG_RUNTIME_API BlockAllocator : public OpenRegAllocator {
 public:
  c10::DataPtr allocate(size_t size) override;
  c10::DeleterFnPtr raw_deleter() const override { return &BlockAllocator::delete_through_owner; }
  void emptyCache(c10::MempoolId_t mempool_id = {0, 0}) override;
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override;

  std::string name() override { return "direct"; }
  void* raw_alloc(size_t nbytes) override;
  void* raw_alloc_with_stream(size_t nbytes, orStream_t stream) override;
  /// Throws c10::Error if `ptr` isn't live.
  void raw_delete(void* ptr) override;
  double getMemoryFraction(c10::DeviceIndex device) override;
  void setMemoryFraction(double fraction, c10::DeviceIndex device) override;
  void* getBaseAllocation(void* ptr, size_t* size) override;
  SnapshotInfo snapshot(c10::MempoolId_t mempool_id, bool include_traces) override;
  void attachOutOfMemoryObserver(OutOfMemoryObserver observer) override;

 protected:
  /// Memory for a block, whose bytes it may change. Null if there is none, and then `reason` may say why.
  virtual void* obtain(Block& block, std::string& reason);
  /// False if the memory is still allocated: it stays in the table, and is tried again when memory is asked for or given back.
  virtual bool give_back(void* data, const Block& block) noexcept;

 private:
  static void delete_through_owner(void* data);
  /// False if `data` isn't live.
  bool free(void* data) noexcept;
  bool retry_refused();
  bool is_too_much(const Block& block);
  [[noreturn]] void throw_out_of_memory(const Block& block, const std::string& reason);
  void report(void* data, const Block& block, int64_t change);

  // Guarded by mutex_.
  std::unordered_map<c10::DeviceIndex, double> fractions_;  // only those that were set
  std::vector<OutOfMemoryObserver> observers_;
  std::vector<void*> refused_;
  std::atomic<bool> has_fractions_{false};
};

}  // namespace openreg
