// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/Allocator.h"
#include "runtime/Export.h"

// Note [What an allocator of openreg can do]
// c10::DeviceAllocator is what PyTorch itself asks of a device's allocator. What users know from torch.cuda.memory is
// more: snapshots, history, pools, fractions, observers, raw pointers. PyTorch declares that for CUDA alone
// (c10/cuda/CUDACachingAllocator.h); this class has the same names with the same meanings. torch.openreg.memory and the
// sharing of storages between processes see allocators through it, whichever kind the process uses.
//
// What a kind can't do it doesn't override: the default throws c10::NotImplementedError and says which kind it is.
// Without this class, Python would have to know the allocators one by one.
//
// The spec chooses the kind (allocator.device). This tree has `caching`.
// Ownership, threads: as in Note [Device allocator]. Sizes are in bytes.

namespace openreg {

constexpr uint8_t kAllocatorPriority = 1;  // that of c10::SetAllocator, above DirectAllocator's

using c10::CachingDeviceAllocator::AllocatorTraceTracker;
using c10::CachingDeviceAllocator::AnnotationEntry;
using c10::CachingDeviceAllocator::CreateContextFn;
using c10::CachingDeviceAllocator::RecordContext;
using c10::CachingDeviceAllocator::SegmentInfo;
using c10::CachingDeviceAllocator::TraceEntry;

/// The settings an allocator works with, for snapshots.
struct AllocatorConfigInfo {
  double garbage_collection_threshold = 0;
  size_t max_split_size = 0;
  bool expandable_segments = false;
  std::string last_allocator_settings;
  std::vector<size_t> roundup_power2_divisions;
};

/// What an allocator holds at one moment, and what it did before.
struct SnapshotInfo {
  std::vector<SegmentInfo> segments;
  std::vector<std::vector<TraceEntry>> device_traces;  // one list per device
  std::vector<AnnotationEntry> external_annotations;
  AllocatorConfigInfo config_metadata;
};

/// Called when memory has run out, before the error is thrown, on the thread that asked for memory.
using OutOfMemoryObserver = std::function<void(int64_t device, size_t allocated, size_t device_total, size_t device_free)>;

class PoolAllocator;

class OPENREG_RUNTIME_API OpenRegAllocator : public DirectAllocator {
 public:
  using MempoolId_t = c10::MempoolId_t;

  /// "direct", "native" (the caching one, as with torch.cuda), "pluggable".
  virtual std::string name() = 0;

  /// Memory on the current device, for its current stream; raw_delete() gives it back. Null for no bytes.
  virtual void* raw_alloc(size_t nbytes);
  /// The same for a stream of the current device.
  virtual void* raw_alloc_with_stream(size_t nbytes, orStream_t stream);
  /// Null is fine.
  virtual void raw_delete(void* ptr);

  /// The share of a device's memory this process may take, 0 to 1.
  virtual double getMemoryFraction(c10::DeviceIndex device);
  virtual void setMemoryFraction(double fraction, c10::DeviceIndex device);

  /// Whether freed memory is cached. If off, each allocation is a device allocation.
  virtual void enable(bool value);
  virtual bool isEnabled() const;

  /// Raises *largestBlock to the most that one allocation could get now, cached or from the device.
  virtual void cacheInfo(c10::DeviceIndex device, size_t* largestBlock);

  /// The start of the device allocation (segment) `ptr` lies in, and its size in *size unless that is null. The device's
  /// functions, such as IPC, know only such allocations. Throws c10::Error if there is none.
  virtual void* getBaseAllocation(void* ptr, size_t* size);

  /// Segments, blocks and, with include_traces, the history; of one pool if one is given.
  virtual SnapshotInfo snapshot(MempoolId_t mempool_id = {0, 0}, bool include_traces = true);

  /// Its memory pools, which the component `pools` brings; null if it has none.
  virtual PoolAllocator* pools() { return nullptr; }

  // History: what snapshot() knows of the past. `context_recorder` gathers a stack trace, and may be null.
  virtual bool isHistoryEnabled();
  virtual void recordHistory(
      bool enabled, CreateContextFn context_recorder, size_t alloc_trace_max_entries,
      RecordContext when, bool clearHistory, const std::vector<std::string>& skip_actions);

  /// What was recorded when `ptr` was allocated; null if nothing was.
  virtual std::shared_ptr<c10::GatheredContext> getContextForPointer(const void* ptr);
  virtual void recordAnnotation(const std::vector<std::pair<std::string, std::string>>& metadata);
  /// Both go into each trace entry that the calling thread causes.
  virtual void pushCompileContext(std::string& context);
  virtual void popCompileContext();
  virtual void setUserMetadata(const std::string& metadata);
  virtual std::string getUserMetadata();

  /// Permanently: an observer can't be detached.
  virtual void attachOutOfMemoryObserver(OutOfMemoryObserver observer);
  /// Called for each trace entry with the allocator's lock held: it may take no lock that is held over an allocation,
  /// such as Python's GIL.
  virtual void attachAllocatorTraceTracker(AllocatorTraceTracker tracker);

 protected:
  [[noreturn]] void not_supported(const char* function);
};

/// The allocator in use, by what it can do. Throws c10::Error if it was not created by this backend.
OPENREG_RUNTIME_API OpenRegAllocator& getCurrentAllocator();

/// Something to do when memory is out, before the error: it gives memory back, and says whether it gave any. Called without
/// a lock, on the thread that asked for memory; kept until the process ends. Returns true, to be called from a static's initializer.
OPENREG_RUNTIME_API bool registerFreeMemoryCallback(std::function<bool()> callback);

/// Calls them all; whether any gave memory back. Allocators call it before they throw, and then try again, and in emptyCache().
OPENREG_RUNTIME_API bool callFreeMemoryCallbacks();

/// The allocator in use, never destroyed and so not owned; for handles in Python.
OPENREG_RUNTIME_API std::shared_ptr<OpenRegAllocator> getCurrentAllocatorShared();

}  // namespace openreg
