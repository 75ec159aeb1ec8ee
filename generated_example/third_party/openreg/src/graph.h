// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "openreg.h"
#include "task_queue.h"

// Note [Graphs]
// A stream that is captured hands its tasks to a Capture instead of its queue. Streams that wait for a captured event join; what
// they know of each other is kept as the number of tasks of each stream that a stream has waited for, so that the end of the
// capture can tell whether the first stream has waited for all. The order in which tasks were given is one in which they can
// run, so a graph is a list, and a launch is one task that runs it: the work of streams that ran side by side while it was
// captured runs one after another.
namespace openreg::driver {

class Stream;

class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // On a stream's thread. `launch`: the record of the launch, null while nobody records.
  void run(const Activity* launch) const;
  std::size_t size() const { return nodes.size(); }
  int device() const { return device_; }
  // False if the file cannot be written.
  bool print(const std::string& path) const;

 private:
  friend class Capture;
  struct Node {
    Task::Touches touches = Task::Touches::kNothing;
    std::function<void()> run;
    What what;
    int stream = 0;  // among those of the capture
  };
  int device_ = 0;
  std::vector<Node> nodes;
  std::vector<std::pair<void*, void (*)(void*)>> retained;
};

// How many tasks of each stream of a capture have been waited for.
using Clock = std::map<const Stream*, std::size_t>;

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

  // Of a stream of the capture: a task; what it has waited for so far; that it waits for what another one had waited for.
  void add(const Stream& stream, Task::Touches touches, std::function<void()> run, const What& what);
  Clock record(const Stream& stream);
  void wait(const Stream& stream, const Clock& seen);
  void retain(void* object, void (*release)(void*));

  void invalidate();
  bool valid() const;
  bool ended() const;
  // The graph; null if the capture is not valid. Nothing can be added any more.
  std::shared_ptr<Graph> finish();

 private:
  const std::uint64_t id_;
  const Stream* const origin_;
  const orCaptureMode mode_;
  const std::thread::id thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  bool valid_ = true;
  bool ended_ = false;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::map<const Stream*, std::size_t> given_;  // tasks, by stream
  std::map<const Stream*, Clock> known_;
  std::map<const Stream*, int> numbers_;
};

// Whether a capture forbids the calling thread to wait for a whole device; such captures are invalidated.
bool refuse_to_wait();
// The same for a stream, or an event, of a capture: null mostly.
bool refuse_to_wait(const std::shared_ptr<Capture>& capture);

}  // namespace openreg::driver
