// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <map>
#include <memory>

#include "runtime/Stream.h"

// Note [Streams of process groups]
// Collectives wait for other ranks, so all work on the same stream waits too. So a group has its own streams, outside
// the pools that Note [Streams] describes. A group has one for collectives, and one for sends to and one for receives
// from each rank: a send that waits for its receiver must not block work that the receiver needs first. They are made on first
// use, and never destroyed, like all streams; later groups reuse them.

namespace openreg::distributed {

/// The streams of one group. Threads: one at a time.
class CommStreams {
 public:
  CommStreams() = default;
  ~CommStreams();
  CommStreams(const CommStreams&) = delete;
  CommStreams& operator=(const CommStreams&) = delete;

  static constexpr int kCollectives = -1, kBatches = -2, kFromAny = -3;
  static constexpr int to(int peer) { return 2 * peer; }
  static constexpr int from(int peer) { return 2 * peer + 1; }

  OpenRegStream get(c10::DeviceIndex device, int use);

 private:
  std::map<std::pair<c10::DeviceIndex, int>, OpenRegStream> streams_;
};

}  // namespace openreg::distributed
