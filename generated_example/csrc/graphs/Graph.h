// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <ATen/core/GraphImplInterface.h>

#include "graphs/Capture.h"
#include "runtime/Event.h"
#include "runtime/Export.h"

// Note [Graphs]
// What it is for: a step whose operators take less time than their launches is recorded once and then launched as a whole.
//   torch.accelerator.Graph, torch.openreg.graph and make_graphed_callables come to this class.
// Who calls it: PyTorch, which finds it in at::GraphImplRegistry under the device's name.
// What is recorded: the work of the device's streams (Note [Graphs] of the device's API). Memory comes from a pool of
//   the graph, whose blocks keep their addresses as long as the graph lives, so a replay finds its operands where they were.
// What can't be recorded: calls that wait for the device, such as item() or a copy to memory that is not pinned. They throw, and
//   the capture fails. CPU kernels that replace device kernels are recorded if the device can run them and the
//   sizes of their results do not depend on values.
// Without it: everything works, but each launch costs time.
//
// Threads: a graph is used by one thread at a time; others may use the device meanwhile, as the capture's mode allows.

namespace openreg {

class OPENREG_RUNTIME_API OpenRegGraph final : public at::GraphImplInterface {
 public:
  explicit OpenRegGraph(const at::GraphImplArgs& args = {});
  ~OpenRegGraph() override;

  /// On the current stream. `pool`: that of another graph which never replays at the same time; {0, 0}: a new one.
  void capture_begin(c10::MempoolId_t pool, at::GraphCaptureMode mode) override;
  void capture_end() override;
  /// What was captured is ready to run, so this only checks that there is something.
  void instantiate() override;
  /// On the current stream of the device that it was captured on.
  void replay() override;
  void reset() override;
  c10::MempoolId_t pool() const override;
  void enable_debug_mode() override;
  /// In the DOT language. Needs enable_debug_mode() before the capture's end.
  void debug_dump(const std::string& path) override;

 private:
  void allocate_to_pool(uint64_t id);
  void end_allocate_to_pool(c10::DeviceIndex devices);
  orError_t end();
  void leave_pool();

  orGraph_t graph_ = nullptr;
  std::shared_ptr<GraphDraws> draws_;
  std::optional<CaptureScope> capture_;  // while it is under way
  OpenRegEvent replayed_;  // the last replay
  orStream_t stream_ = nullptr;
  c10::DeviceIndex device_ = -1;
  c10::MempoolId_t pool_{0, 0};
  c10::DeviceIndex pool_devices_ = 0;  // how many have the pool
  bool debug_ = false;
};

/// Makes PyTorch find the class. It looks by the device's name, so this comes after c10::register_privateuse1_backend().
OPENREG_RUNTIME_API void register_graphs();

}  // namespace openreg
