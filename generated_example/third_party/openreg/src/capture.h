// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "graph.h"

// Note [Captures]
// A stream that is captured hands what it is given to a Capture instead of its queue. Streams that wait for a captured event join; what
// they know of each other is kept as the number of nodes of each stream that a stream has waited for, so that the end of the
// capture can tell whether the first stream has waited for all. The order in which nodes were given is one in which they can
// run, so a graph is a list: the work of streams that ran side by side while it was captured runs one after another.
namespace openreg::driver {

class Stream;

// How many nodes of each stream of a capture have been waited for.
using Waited = std::map<const Stream*, std::size_t>;

class Capture : public std::enable_shared_from_this<Capture> {
 public:
  Capture(const Stream& origin, int device, orCaptureMode mode);

  std::uint64_t id() const { return id_; }
  const Stream* origin() const { return origin_; }
  // Whether the calling thread may not wait for what could hold up the capture.
  bool forbids_waiting() const;

  // The streams that take part. finish() is followed by leave(), which lets them run again.
  bool join(std::shared_ptr<Stream> stream);
  void leave();

  // Of a stream of the capture: a node; what it has waited for so far; that it waits for what another one had waited for.
  void add(const Stream& stream, Graph::Node node);
  Waited record(const Stream& stream);
  void wait(const Stream& stream, const Waited& seen);
  void retain(void* object, void (*release)(void*));

  void invalidate();
  bool valid() const;
  bool ended() const;
  // The graph; null if the capture is not valid. Nothing can be added any more.
  std::shared_ptr<Graph> finish();

 private:
  void check_open() const;

  const std::uint64_t id_;
  const Stream* const origin_;
  const orCaptureMode mode_;
  const std::thread::id thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  bool valid_ = true;
  bool ended_ = false;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::shared_ptr<Graph> graph_;  // null once it was given away
  std::map<const Stream*, std::size_t> given_;  // nodes, by stream
  std::map<const Stream*, Waited> known_;
  std::map<const Stream*, int> numbers_;
};

// Whether a capture forbids the calling thread to wait for a whole device; such captures are invalidated.
bool refuse_to_wait();
// The same for a stream, or an event, of a capture: null mostly.
bool refuse_to_wait(const std::shared_ptr<Capture>& capture);

}  // namespace openreg::driver
