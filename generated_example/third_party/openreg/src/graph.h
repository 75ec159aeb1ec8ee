// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "openreg.h"
#include "task_queue.h"

// Note [Graphs]
// What streams were given while they were captured (Note [Captures]), in order. A launch is one task that runs it.
namespace openreg::driver {

class Graph {
 public:
  struct Node {
    Task::Touches touches = Task::Touches::kNothing;
    std::function<void()> run;
    What what;
    int stream = 0;  // among those of the capture
  };

  explicit Graph(int device) : device_(device) {}
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // On a stream's thread. `launch`: the record of the launch, null while nobody records.
  void run(const Activity* launch) const;
  const std::vector<Node>& nodes() const { return nodes_; }
  int device() const { return device_; }

 private:
  friend class Capture;
  const int device_;
  std::vector<Node> nodes_;
  std::vector<std::pair<void*, void (*)(void*)>> retained_;
};

inline Graph::~Graph() {
  for (const auto& [object, release] : retained_) release(object);
}

inline void Graph::run(const Activity* launch) const {
  for (const Node& node : nodes_) {
    if (launch == nullptr) {
      node.run();
      continue;
    }
    Activity activity = *launch;
    activity.kind = node.what.kind;
    activity.name = node.what.name;
    activity.copy = node.what.copy;
    activity.pageable = node.what.pageable ? 1 : 0;
    activity.bytes = node.what.bytes;
    activity.replayed = 1;
    activity.start = Activities::now();
    node.run();
    activity.end = Activities::now();
    Activities::finish(activity);
  }
}

}  // namespace openreg::driver
