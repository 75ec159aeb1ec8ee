// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#include "graphs/Graph.h"

#include <utility>

#include <c10/core/DeviceType.h>
#include <c10/util/Exception.h>

#include "runtime/Allocator.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/MemPool.h"
#include "runtime/Stream.h"

namespace openreg {
namespace {

orCaptureMode as_device_has_it(at::GraphCaptureMode mode) {
  switch (mode) {
    case at::GraphCaptureMode::ThreadLocal:
      return orCaptureModeThreadLocal;
    case at::GraphCaptureMode::Relaxed:
      return orCaptureModeRelaxed;
    case at::GraphCaptureMode::Default:
    case at::GraphCaptureMode::Global:
      break;
  }
  return orCaptureModeGlobal;
}

std::unique_ptr<at::GraphImplInterface> make_graph(at::GraphImplArgs args) {
  return std::make_unique<OpenRegGraph>(args);
}

}  // namespace

void register_graphs() {
  static const bool registered = [] {
    at::GraphImplRegistry()->Register(c10::DeviceTypeName(c10::DeviceType::PrivateUse1, /*lower_case=*/false), make_graph);
    return true;
  }();
  static_cast<void>(registered);
}

OpenRegGraph::OpenRegGraph(const at::GraphImplArgs& /*args*/) {}

OpenRegGraph::~OpenRegGraph() {
  if (!isInBadFork()) {
    never_throw("a graph was destroyed", [this] { reset(); });
  }
}

void OpenRegGraph::capture_begin(c10::MempoolId_t pool, at::GraphCaptureMode mode) {
  TORCH_CHECK(!capture_.has_value(), "openreg: this graph is being captured already");
  TORCH_CHECK(graph_ == nullptr, "openreg: this graph was captured before: reset() it, or make another");
  initialize();
  leave_pool();  // of a capture that failed
  const OpenRegStream stream = getCurrentStream();
  TORCH_CHECK(capture_of(stream.stream()) == 0, "openreg: the current stream is being captured into another graph");
  device_ = stream.device_index();
  stream_ = stream.stream();
  pool_ = pool == c10::MempoolId_t{0, 0} ? new_graph_pool() : pool;
  draws_ = std::make_shared<GraphDraws>();
  capture_.emplace();
  orError_t error = orStreamBeginCapture(stream_, as_device_has_it(mode));
  if (error != orSuccess) {
    capture_.reset();
    OPENREG_CHECK(error);
  }
  try {
    const uint64_t id = capture_of(stream_);
    capture_->draw_from(id, draws_);
    allocate_to_pool(id);
  } catch (...) {
    orStreamEndCapture(stream_, &graph_);
    if (const orGraph_t graph = std::exchange(graph_, nullptr)) {
      orGraphDestroy(graph);
    }
    orGetLastError();
    capture_.reset();
    leave_pool();
    throw;
  }
}

// Streams of other devices may take part, so the pool is one of each device.
void OpenRegGraph::allocate_to_pool(uint64_t id) {
  PoolAllocator& allocator = current_pools();
  const auto of_this_capture = [id](orStream_t stream) { return capture_of(stream) == id; };
  const c10::DeviceIndex devices = device_count();
  for (c10::DeviceIndex device = 0; device < devices; ++device) {
    try {
      allocator.beginAllocateToPool(device, pool_, of_this_capture);
    } catch (...) {
      end_allocate_to_pool(pool_devices_);
      throw;
    }
    ++pool_devices_;
    try {
      allocator.markCaptureBegin(device);
    } catch (...) {
      allocator.endAllocateToPool(device, pool_);
      end_allocate_to_pool(pool_devices_ - 1);
      throw;
    }
  }
}

void OpenRegGraph::end_allocate_to_pool(c10::DeviceIndex devices) {
  PoolAllocator& allocator = current_pools();
  for (c10::DeviceIndex device = 0; device < devices; ++device) {
    allocator.endAllocateToPool(device, pool_);
    allocator.markCaptureEnd(device);
  }
}

orError_t OpenRegGraph::end() {
  const OpenRegGuard guard(device_);
  const orError_t error = orStreamEndCapture(stream_, &graph_);
  capture_.reset();
  end_allocate_to_pool(pool_devices_);
  return error;
}

void OpenRegGraph::capture_end() {
  TORCH_CHECK(capture_.has_value(), "openreg: capture_end() without capture_begin()");
  const OpenRegStream stream = getCurrentStream();
  TORCH_CHECK(stream.device_index() == device_ && stream.stream() == stream_,
      "openreg: a capture ends on the stream that it began on, which must be the current one");
  OPENREG_CHECK(end());
  size_t nodes = 0;
  OPENREG_CHECK(orGraphGetNodeCount(graph_, &nodes));
  if (nodes == 0) {
    TORCH_WARN("openreg: the graph is empty. Was the work queued on another stream or device?");
  }
}

void OpenRegGraph::instantiate() {
  TORCH_CHECK(graph_ != nullptr, "openreg: nothing was captured");
}

void OpenRegGraph::replay() {
  TORCH_CHECK(graph_ != nullptr, "openreg: nothing was captured");
  const OpenRegGuard guard(device_);
  check_not_capturing("the replay of a graph");
  const OpenRegStream stream = getCurrentStream();
  replayed_.block(stream);  // replays run in order, on any stream
  draws_->launch();
  OPENREG_CHECK_LAUNCH(orGraphLaunch(graph_, stream.stream()));
  replayed_.record(stream);
}

void OpenRegGraph::reset() {
  if (capture_.has_value()) {  // given up
    end();
    orGetLastError();
  }
  if (const orGraph_t graph = std::exchange(graph_, nullptr)) {
    // What was launched may still run, on memory that others get with the pool. To wait for the device would end the capture of
    // another graph, in the midst of which garbage collection may come here.
    if (replayed_.is_created()) {
      OPENREG_WARN(orEventSynchronize(replayed_.event()));
    }
    OPENREG_WARN(orGraphDestroy(graph));
  }
  draws_.reset();
  leave_pool();
}

void OpenRegGraph::leave_pool() {
  const c10::DeviceIndex devices = std::exchange(pool_devices_, c10::DeviceIndex{0});
  for (c10::DeviceIndex device = 0; device < devices; ++device) {
    current_pools().releasePool(device, pool_);
  }
}

c10::MempoolId_t OpenRegGraph::pool() const {
  TORCH_CHECK(pool_devices_ > 0, "openreg: a graph has a pool from the beginning of its capture on");
  return pool_;
}

void OpenRegGraph::enable_debug_mode() {
  debug_ = true;
}

void OpenRegGraph::debug_dump(const std::string& path) {
  TORCH_CHECK(debug_, "openreg: debug_dump() without enable_debug_mode()");
  TORCH_CHECK(graph_ != nullptr, "openreg: nothing was captured");
  OPENREG_CHECK(orGraphDebugPrint(graph_, path.c_str()));
}

}  // namespace openreg
