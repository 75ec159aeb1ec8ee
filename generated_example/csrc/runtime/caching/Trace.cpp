// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/caching/Trace.h"

#include <algorithm>
#include <utility>

#include "runtime/Exception.h"

namespace openreg::caching {

void HistoryMode::set(
    bool enabled, CreateContextFn recorder, RecordContext when, const std::vector<std::string>& skip_actions) {
  uint32_t skipped = 0;
  for (const std::string& action : skip_actions) {
    skipped |= uint32_t{1} << c10::CachingDeviceAllocator::parseTraceEntryAction(action);
  }
  TORCH_CHECK(
      !enabled || when == RecordContext::NEVER || recorder != nullptr,
      "openreg: recordHistory needs a context recorder, unless contexts are never recorded");
  skipped_.store(skipped, std::memory_order_relaxed);
  recorder_.store(enabled ? recorder : nullptr, std::memory_order_relaxed);
  when_.store(enabled ? when : RecordContext::NEVER, std::memory_order_relaxed);
  enabled_.store(enabled, std::memory_order_relaxed);
}

Context HistoryMode::call_recorder() const {
  const CreateContextFn recorder = recorder_.load(std::memory_order_relaxed);
  return recorder == nullptr ? nullptr : recorder();
}

Context HistoryMode::try_recorder() const noexcept {
  Context context;
  never_throw("the recorder of the allocator's history ran", [&] { context = call_recorder(); });
  return context;
}

ThreadNotes& thread_notes() {
  thread_local ThreadNotes notes;
  return notes;
}

void Trace::set_limit(size_t entries) {
  std::vector<TraceEntry> kept = this->entries();
  limit_ = std::max<size_t>(entries, 1);
  if (kept.size() > limit_) {
    std::for_each(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(limit_), [this](TraceEntry& entry) { drop(std::move(entry.context_)); });
    kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(limit_));
  }
  entries_ = std::move(kept);
  next_ = entries_.size() % limit_;
}

void Trace::clear() {
  for (TraceEntry& entry : entries_) {
    drop(std::move(entry.context_));
  }
  entries_.clear();
  next_ = 0;
}

std::vector<TraceEntry> Trace::entries() const {
  std::vector<TraceEntry> ordered = entries_;
  if (ordered.size() == limit_) {
    std::rotate(ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(next_), ordered.end());
  }
  return ordered;
}

void Trace::add(TraceEntry::Action action, size_t address, size_t size, orStream_t stream, c10::MempoolId_t pool,
    const Context& context, RecordContext level) {
  const ThreadNotes& notes = thread_notes();
  TraceEntry entry(
      action, device_, address, size, stream, pool, c10::getApproximateTime(),
      mode_.keeps(level) ? context : nullptr,
      notes.compile_contexts.empty() ? std::string() : notes.compile_contexts.back(), notes.user_metadata);
  for (const AllocatorTraceTracker& tracker : trackers_) {
    never_throw("a tracker of the allocator ran", [&] { tracker(entry); });
  }
  if (!mode_.enabled() || mode_.skips(action)) {
    return;
  }
  if (entries_.size() < limit_) {
    entries_.push_back(std::move(entry));
    next_ = entries_.size() % limit_;
  } else {
    drop(std::move(entries_[next_].context_));
    entries_[next_] = std::move(entry);
    next_ = (next_ + 1) % limit_;
  }
}

}  // namespace openreg::caching
