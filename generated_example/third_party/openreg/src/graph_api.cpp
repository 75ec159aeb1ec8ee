// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <fstream>
#include <string>

#include "capture.h"
#include "error.h"
#include "handle.h"
#include "stream.h"

namespace openreg::driver {
namespace {

HandleTable<Graph, orGraph_t>& graph_table() {
  static auto& instance = *new HandleTable<Graph, orGraph_t>;
  return instance;
}

const char* name_of(orActivityKind kind) {
  switch (kind) {
    case orActivityMemcpy:
      return "memcpy";
    case orActivityMemset:
      return "memset";
    case orActivityKernel:
      break;
  }
  return "kernel";
}

// False if the file cannot be written.
bool print(const Graph& graph, const char* path) {
  std::ofstream out(path);
  out << "digraph graph {\n  rankdir=LR;\n";
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const What& what = graph.nodes()[i].what;
    std::string label = what.name != nullptr ? what.name : name_of(what.kind);
    label += "\\nstream " + std::to_string(graph.nodes()[i].stream);
    if (what.bytes != 0) label += "\\n" + std::to_string(what.bytes) + " bytes";
    out << "  n" << i << " [shape=box, label=\"" << label << "\"];\n";
    if (i > 0) out << "  n" << i - 1 << " -> n" << i << ";\n";
  }
  out << "}\n";
  return static_cast<bool>(out.flush());
}

}  // namespace
}  // namespace openreg::driver

using namespace openreg::driver;

extern "C" {

orError_t orStreamBeginCapture(orStream_t stream, orCaptureMode mode) {
  return call([&] {
    const auto found = find_stream(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    if (mode < orCaptureModeGlobal || mode > orCaptureModeRelaxed) return orErrorInvalidValue;
    if (found->capture() != nullptr) return orErrorCaptureUnsupported;
    return std::make_shared<Capture>(*found, found->device(), mode)->join(found) ? orSuccess : orErrorCaptureUnsupported;
  });
}

orError_t orStreamEndCapture(orStream_t stream, orGraph_t* graph) {
  return call([&] {
    const auto found = find_stream(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    if (graph == nullptr) return orErrorInvalidValue;
    *graph = nullptr;
    const auto capture = found->capture();
    if (capture == nullptr || capture->origin() != found.get()) return orErrorInvalidValue;
    auto made = capture->finish();
    capture->leave();
    if (made == nullptr) return orErrorCaptureInvalidated;
    *graph = graph_table().add(std::move(made));
    return orSuccess;
  });
}

orError_t orStreamGetCaptureInfo(orStream_t stream, orCaptureStatus* status, uint64_t* id) {
  return call([&] {
    const auto found = find_stream(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    if (status == nullptr) return orErrorInvalidValue;
    const auto capture = found->capture();
    *status = orCaptureStatusNone;
    if (capture != nullptr) *status = capture->valid() ? orCaptureStatusActive : orCaptureStatusInvalidated;
    if (id != nullptr) *id = capture == nullptr ? 0 : capture->id();
    return orSuccess;
  });
}

orError_t orStreamCaptureRetain(orStream_t stream, void* object, void (*release)(void* object)) {
  return call([&] {
    const auto found = find_stream(stream);
    if (found == nullptr) return orErrorInvalidHandle;
    if (release == nullptr) return orErrorInvalidValue;
    const auto capture = found->capture();
    if (capture == nullptr) return orErrorInvalidValue;
    capture->retain(object, release);
    return orSuccess;
  });
}

orError_t orGraphLaunch(orGraph_t graph, orStream_t stream) {
  return call([&] {
    const auto found = graph_table().find(graph);
    const auto target = find_stream(stream);
    if (found == nullptr || target == nullptr) return orErrorInvalidHandle;
    if (target->device() != found->device()) return orErrorInvalidValue;
    if (refuse_to_wait(target->capture())) return orErrorCaptureUnsupported;
    target->launch(found);
    return orSuccess;
  });
}

orError_t orGraphDestroy(orGraph_t graph) {
  return call([&] { return graph_table().remove(graph) == nullptr ? orErrorInvalidHandle : orSuccess; });
}

orError_t orGraphGetNodeCount(orGraph_t graph, size_t* count) {
  return call([&] {
    const auto found = graph_table().find(graph);
    if (found == nullptr) return orErrorInvalidHandle;
    if (count == nullptr) return orErrorInvalidValue;
    *count = found->nodes().size();
    return orSuccess;
  });
}

orError_t orGraphDebugPrint(orGraph_t graph, const char* path) {
  return call([&] {
    const auto found = graph_table().find(graph);
    if (found == nullptr) return orErrorInvalidHandle;
    return path != nullptr && print(*found, path) ? orSuccess : orErrorInvalidValue;
  });
}

}  // extern "C"
