// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <bitset>
#include <memory>
#include <string>
#include <vector>

#include "runtime/caching/CachingAllocator.h"

// Note [History]
// With recordHistory, the allocator keeps a ring of the last events of each device, and for each
// event the result of a recorder, which is a stack trace for Python. Recorders run before the device's lock is
// taken, since they may take the GIL. Without it, an allocation costs one relaxed load more.

namespace openreg::caching {

using Context = std::shared_ptr<c10::GatheredContext>;

/// What is to be recorded, for all devices. Threads: any.
class HistoryMode {
 public:
  void set(bool enabled, CreateContextFn recorder, RecordContext when, const std::vector<std::string>& skip_actions);
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  /// What the recorder returns, if contexts are kept at `level`; else null. To be called without a lock.
  Context gather(RecordContext level) const {
    return C10_LIKELY(level > when_.load(std::memory_order_relaxed)) ? nullptr : call_recorder();
  }
  /// The same where nothing may be thrown, such as in a deleter: null if the recorder throws.
  Context gather_or_none(RecordContext level) const noexcept {
    return C10_LIKELY(level > when_.load(std::memory_order_relaxed)) ? nullptr : try_recorder();
  }
  /// Whether entries of the history carry contexts for this.
  bool keeps(RecordContext level) const { return level <= when_.load(std::memory_order_relaxed); }
  bool skips(TraceEntry::Action action) const { return (skipped_.load(std::memory_order_relaxed) >> action & 1) != 0; }

 private:
  Context call_recorder() const;
  Context try_recorder() const noexcept;

  std::atomic<bool> enabled_{false};
  std::atomic<RecordContext> when_{RecordContext::NEVER};
  std::atomic<CreateContextFn> recorder_{nullptr};
  std::atomic<uint32_t> skipped_{0};  // a bit an action
};

/// Text that the calling thread adds to its entries.
struct ThreadNotes {
  std::vector<std::string> compile_contexts;
  std::string user_metadata;
};
ThreadNotes& thread_notes();

/// The events of one device. Threads: under the device's lock.
class Trace {
 public:
  Trace(const HistoryMode& mode, c10::DeviceIndex device) : mode_(mode), device_(device) {}

  void set_limit(size_t entries);
  void clear();
  void add_tracker(AllocatorTraceTracker tracker) { trackers_.push_back(std::move(tracker)); }

  /// Whether record() does anything.
  bool wanted() const { return mode_.enabled() || !trackers_.empty(); }

  /// For OOM, `address` is the free memory of the device; level: when the context would have been gathered.
  void record(TraceEntry::Action action, size_t address, size_t size, orStream_t stream, c10::MempoolId_t pool,
      const Context& context, RecordContext level) {
    if (C10_UNLIKELY(wanted())) {
      add(action, address, size, stream, pool, context, level);
    }
  }

  /// Oldest first; times as ApproximateClock's.
  std::vector<TraceEntry> entries() const;

  /// Contexts may have any destructor, so none is destroyed under the lock: who held one drops it here, and who is about to
  /// release the lock takes what was dropped.
  void drop(Context context) {
    if (context != nullptr) {
      dropped_.push_back(std::move(context));
    }
  }
  void take_dropped(std::vector<Context>& out) { out.swap(dropped_); }

 private:
  void add(TraceEntry::Action action, size_t address, size_t size, orStream_t stream, c10::MempoolId_t pool,
      const Context& context, RecordContext level);

  const HistoryMode& mode_;
  const c10::DeviceIndex device_;
  std::vector<AllocatorTraceTracker> trackers_;
  size_t limit_ = 1;
  size_t next_ = 0;  // where the oldest is, once there are limit_ entries
  std::vector<TraceEntry> entries_;
  std::vector<Context> dropped_;
};

}  // namespace openreg::caching
