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

}  // namespace openreg::driver
