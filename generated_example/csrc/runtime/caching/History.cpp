// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/caching/History.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/Exception.h"

namespace openreg::caching {

AllocationHistory& history() {
  static auto* const instance = new AllocationHistory();  // never destroyed: tensors may outlive main()
  return *instance;
}

[[maybe_unused]] const bool history_in_use = (extensions.history = &history(), true);

ThreadNotes& thread_notes() {
  thread_local ThreadNotes notes;
  return notes;
}

void AllocationHistory::set(bool enabled, CreateContextFn recorder, size_t max_entries, RecordContext when, bool clear,
    const std::vector<std::string>& skip_actions) {
  uint32_t skipped = 0;
  for (const std::string& action : skip_actions) {
    skipped |= uint32_t{1} << c10::CachingDeviceAllocator::parseTraceEntryAction(action);
  }
  TORCH_CHECK(
      !enabled || when == RecordContext::NEVER || recorder != nullptr,
      "openreg: recordHistory needs a context recorder, unless contexts are never recorded");
  std::vector<TraceEntry> dropped;  // destroyed after the lock is released
  const std::lock_guard<std::mutex> lock(mutex_);
  skipped_ = skipped;
  limit_ = std::max<size_t>(max_entries, 1);
  for (auto& [device, ring] : entries_) {
    const auto leaving = static_cast<std::ptrdiff_t>(clear ? ring.size() : ring.size() - std::min(ring.size(), limit_));
    std::move(ring.begin(), ring.begin() + leaving, std::back_inserter(dropped));
    ring.erase(ring.begin(), ring.begin() + leaving);
  }
  if (clear) {
    annotations_.clear();
  }
  recorder_.store(enabled ? recorder : nullptr, std::memory_order_relaxed);
  when_.store(enabled ? when : RecordContext::NEVER, std::memory_order_relaxed);
  enabled_.store(enabled, std::memory_order_relaxed);
  on.store(enabled || !trackers_.empty(), std::memory_order_relaxed);
}

void AllocationHistory::annotate(c10::DeviceIndex device, const std::vector<std::pair<std::string, std::string>>& metadata) {
  AnnotationEntry entry(device, c10::getApproximateTime());
  for (const auto& [name, value] : metadata) {
    entry.recordUserMetadata(name, value);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (annotations_.size() >= limit_) {
    annotations_.pop_front();
  }
  annotations_.push_back(std::move(entry));
}

void AllocationHistory::add_tracker(AllocatorTraceTracker tracker) {
  const std::lock_guard<std::mutex> lock(mutex_);
  trackers_.push_back(std::move(tracker));
  on.store(true, std::memory_order_relaxed);
}

Context AllocationHistory::gather(RecordContext level) {
  const CreateContextFn recorder = keeps(level) ? recorder_.load(std::memory_order_relaxed) : nullptr;
  return recorder == nullptr ? nullptr : recorder();
}

Context AllocationHistory::gather_or_none(RecordContext level) noexcept {
  Context context;
  never_throw("the recorder of the allocator's history ran", [&] { context = gather(level); });
  return context;
}

void AllocationHistory::record(c10::DeviceIndex device, TraceEntry::Action action, size_t address, size_t size,
    orStream_t stream, c10::MempoolId_t pool, const Context& context, RecordContext level, std::vector<Context>& dropped) {
  const ThreadNotes& notes = thread_notes();
  TraceEntry entry(
      action, device, address, size, stream, pool, c10::getApproximateTime(), keeps(level) ? context : nullptr,
      notes.compile_contexts.empty() ? std::string() : notes.compile_contexts.back(), notes.user_metadata);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const AllocatorTraceTracker& tracker : trackers_) {
    never_throw("a tracker of the allocator ran", [&] { tracker(entry); });
  }
  if (!enabled() || (skipped_ >> action & 1) != 0) {
    return;
  }
  std::deque<TraceEntry>& ring = entries_[device];
  if (ring.size() >= limit_) {
    dropped.push_back(std::move(ring.front().context_));
    ring.pop_front();
  }
  ring.push_back(std::move(entry));
}

std::vector<TraceEntry> AllocationHistory::entries(c10::DeviceIndex device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {entries_[device].begin(), entries_[device].end()};
}

void AllocationHistory::complete(SnapshotInfo& info) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    info.external_annotations.assign(annotations_.begin(), annotations_.end());
  }
  const auto to_nanoseconds = clock_.makeConverter();
  const auto convert = [&](c10::CachingDeviceAllocator::trace_time_& time) {
    time.t_ = to_nanoseconds(time.approx_t_) / 1000;  // microseconds, as memory_viz reads them
  };
  for (auto& trace : info.device_traces) {
    for (TraceEntry& entry : trace) {
      convert(entry.time_);
    }
  }
  for (AnnotationEntry& entry : info.external_annotations) {
    convert(entry.time_);
  }
}

}  // namespace openreg::caching
