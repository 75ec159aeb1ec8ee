// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <c10/util/ApproximateClock.h>

#include "runtime/caching/Extensions.h"

// Note [History]
// With recordHistory, the allocator keeps a ring of the last events of each device, and for each
// event the result of a recorder, which is a stack trace for Python. Recorders run before the device's lock is
// taken, since they may take the GIL. Without it, an allocation costs one relaxed load more.

namespace openreg::caching {

/// The events of all devices. Threads: any.
class AllocationHistory final : public History {
 public:
  void set(bool enabled, CreateContextFn recorder, size_t max_entries, RecordContext when, bool clear,
      const std::vector<std::string>& skip_actions);
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  void annotate(c10::DeviceIndex device, const std::vector<std::pair<std::string, std::string>>& metadata);
  void add_tracker(AllocatorTraceTracker tracker);

  Context gather(RecordContext level) override;
  Context gather_or_none(RecordContext level) noexcept override;
  void record(c10::DeviceIndex device, TraceEntry::Action action, size_t address, size_t size, orStream_t stream,
      c10::MempoolId_t pool, const Context& context, RecordContext level, std::vector<Context>& dropped) override;
  std::vector<TraceEntry> entries(c10::DeviceIndex device) override;
  void complete(SnapshotInfo& info) override;

 private:
  /// Whether entries carry contexts for this.
  bool keeps(RecordContext level) const { return level <= when_.load(std::memory_order_relaxed); }

  std::atomic<bool> enabled_{false};
  std::atomic<RecordContext> when_{RecordContext::NEVER};
  std::atomic<CreateContextFn> recorder_{nullptr};
  c10::ApproximateClockToUnixTimeConverter clock_;  // starts early: it compares two clocks over time
  std::mutex mutex_;  // guards what follows; taken with a device's lock held, so no context is destroyed under it
  uint32_t skipped_ = 0;  // a bit an action
  size_t limit_ = 1;  // for each device
  std::map<c10::DeviceIndex, std::deque<TraceEntry>> entries_;
  std::vector<AllocatorTraceTracker> trackers_;
  std::deque<AnnotationEntry> annotations_;
};

AllocationHistory& history();

/// Text that the calling thread adds to its entries.
struct ThreadNotes {
  std::vector<std::string> compile_contexts;
  std::string user_metadata;
};
ThreadNotes& thread_notes();

}  // namespace openreg::caching
