// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>

// Note [Expandable segments]
// An ordinary segment never grows: when batch sizes change, old segments no longer fit and memory is lost between their
// blocks. An expandable one is a range of addresses, as large as the device's memory, of which as much has memory as is
// needed: it grows at its end, and idle parts anywhere in it can be given back. Needs the virtual memory functions of the
// device's C API; where a port lacks them, ordinary segments are used.
//
// Ownership: owns its addresses and what is mapped there. Threads: map and unmap may run at once on disjoint ranges,
// and make device calls, so no lock is to be held.

namespace openreg::caching {

class ExpandableSegment {
 public:
  /// Reserves addresses on the current device; null if it refuses. Sizes are multiples of `granularity`.
  static std::unique_ptr<ExpandableSegment> make(size_t bytes, size_t granularity);
  ~ExpandableSegment();
  ExpandableSegment(const ExpandableSegment&) = delete;
  ExpandableSegment& operator=(const ExpandableSegment&) = delete;

  char* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  /// Unit of mapping and unmapping, a multiple of the device's unit.
  size_t granularity() const { return granularity_; }

  /// Gives memory to a range that has none, all of it or nothing. The range is in units of the granularity.
  orError_t map(char* start, size_t bytes);
  /// The reverse. The device waits for what is queued.
  orError_t unmap(char* start, size_t bytes);

 private:
  ExpandableSegment(char* base, size_t bytes, size_t granularity)
      : base_(base), bytes_(bytes), granularity_(granularity) {}

  void undo_map(char* start, size_t bytes);
  bool take_still_mapped(char* unit);

  char* const base_;
  const size_t bytes_;
  const size_t granularity_;
  std::mutex mutex_;
  std::set<char*> still_mapped_;  // units that should have no memory, but the device did not take it off
};

}  // namespace openreg::caching
