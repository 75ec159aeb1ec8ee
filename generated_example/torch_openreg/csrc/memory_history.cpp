// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.

// Note [Snapshots in Python]
// The dictionary has the keys that torch.cuda.memory._snapshot() has, so that torch.cuda._memory_viz and
// pytorch.org/memory_viz read it. Stack traces are PyTorch's CapturedTraceback: cheap to take, turned into text here,
// all at once, because symbolizing C++ frames costs milliseconds.

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/csrc/profiler/combined_traceback.h>
#include <torch/csrc/profiler/python/combined_traceback.h>

#include "Module.h"
#include "runtime/MemoryAllocator.h"

namespace openreg {
namespace {

namespace py = pybind11;
using torch::CapturedTraceback;
using torch::wrap_pybind_function;

std::shared_ptr<c10::GatheredContext> gather_python() { return CapturedTraceback::gather(true, true, false); }
std::shared_ptr<c10::GatheredContext> gather_all() { return CapturedTraceback::gather(true, true, true); }

// Frames to be filled in once all traces are known; null contexts stay empty lists.
class Frames {
 public:
  void want(py::dict entry, const std::shared_ptr<c10::GatheredContext>& context) {
    entry["frames"] = py::list();
    if (auto* const traceback = dynamic_cast<CapturedTraceback*>(context.get())) {
      wanted_.emplace_back(traceback, std::move(entry));
    }
  }

  void fill() {
    std::vector<CapturedTraceback*> unique;
    std::unordered_map<CapturedTraceback*, size_t> positions;
    for (const auto& [traceback, entry] : wanted_) {
      if (positions.emplace(traceback, unique.size()).second) {
        unique.push_back(traceback);
      }
    }
    const std::vector<py::object> symbolized = torch::py_symbolize(unique);
    for (auto& [traceback, entry] : wanted_) {
      entry["frames"] = symbolized.at(positions.at(traceback));
    }
  }

 private:
  std::vector<std::pair<CapturedTraceback*, py::dict>> wanted_;
};

// As parseTraceEntryAction() reads them, in the enumeration's order.
const char* action_name(TraceEntry::Action action) {
  static constexpr const char* names[] = {"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free",
      "segment_map", "segment_unmap", "snapshot", "oom"};
  TORCH_CHECK(action >= 0 && static_cast<size_t>(action) < std::size(names), "unknown trace entry ", static_cast<int>(action));
  return names[action];
}

py::dict segment_dict(const SegmentInfo& segment, Frames& frames) {
  py::dict result;
  result["device"] = segment.device;
  result["address"] = segment.address;
  result["total_size"] = segment.total_size;
  result["allocated_size"] = segment.allocated_size;
  result["active_size"] = segment.active_size;
  result["requested_size"] = segment.requested_size;
  result["stream"] = reinterpret_cast<int64_t>(segment.stream);
  result["segment_type"] = segment.is_large ? "large" : "small";
  result["segment_pool_id"] = segment.owner_private_pool_id;
  result["is_expandable"] = segment.is_expandable;
  frames.want(result, segment.context_when_allocated);
  py::list blocks;
  size_t address = segment.address;
  for (const auto& block : segment.blocks) {
    py::dict part;
    part["address"] = address;
    part["size"] = block.size;
    part["requested_size"] = block.requested_size;
    part["state"] = block.allocated ? "active_allocated" : (block.active ? "active_awaiting_free" : "inactive");
    frames.want(part, block.context_when_allocated);
    blocks.append(part);
    address += block.size;
  }
  result["blocks"] = blocks;
  return result;
}

py::dict trace_dict(const TraceEntry& entry, Frames& frames) {
  py::dict result;
  result["action"] = action_name(entry.action_);
  result[entry.action_ == TraceEntry::OOM ? "device_free" : "addr"] = entry.addr_;
  result["size"] = entry.size_;
  result["stream"] = reinterpret_cast<int64_t>(entry.stream_);
  result["pool_id"] = entry.mempool_;
  result["time_us"] = static_cast<int64_t>(entry.time_.t_);
  result["compile_context"] = entry.compile_context_;
  result["user_metadata"] = entry.user_metadata_;
  frames.want(result, entry.context_);
  return result;
}

py::dict settings_dict(const AllocatorConfigInfo& config) {
  py::dict result;
  result["PYTORCH_ALLOC_CONF"] = config.last_allocator_settings;
  result["max_split_size"] = config.max_split_size;
  result["garbage_collection_threshold"] = config.garbage_collection_threshold;
  result["expandable_segments"] = config.expandable_segments;
  py::dict divisions;
  size_t size = 1;
  for (const size_t division : config.roundup_power2_divisions) {
    divisions[py::str(std::to_string(size))] = division;
    size *= 2;
  }
  result["roundup_power2_divisions"] = divisions;
  return result;
}

py::dict snapshot(c10::MempoolId_t id, bool include_traces) {
  SnapshotInfo info;
  {
    const py::gil_scoped_release no_gil;
    info = getCurrentAllocator().snapshot(id, include_traces);
  }
  Frames frames;
  py::list segments;
  for (const SegmentInfo& segment : info.segments) {
    segments.append(segment_dict(segment, frames));
  }
  py::list traces;
  for (const auto& device : info.device_traces) {
    py::list entries;
    for (const TraceEntry& entry : device) {
      entries.append(trace_dict(entry, frames));
    }
    traces.append(entries);
  }
  py::list annotations;
  for (const AnnotationEntry& annotation : info.external_annotations) {
    py::dict entry;
    for (const auto& [key, value] : annotation.metadata_) {
      entry[py::str(key)] = value;
    }
    entry["device"] = annotation.device_;
    entry["time_us"] = static_cast<int64_t>(annotation.time_.t_);
    annotations.append(entry);
  }
  frames.fill();
  torch::freeDeadCapturedTracebackFrames();
  py::dict result;
  result["segments"] = segments;
  result["device_traces"] = traces;
  result["allocator_settings"] = settings_dict(info.config_metadata);
  result["external_annotations"] = annotations;
  return result;
}

void record_history(
    std::optional<std::string> enabled, std::optional<std::string> context, const std::string& stacks, size_t max_entries,
    bool clear_history, const std::vector<std::string>& skip_actions) {
  TORCH_CHECK_VALUE(!enabled || *enabled == "state" || *enabled == "all", "expected state to be 'state', 'all', or None");
  TORCH_CHECK_VALUE(
      !context || *context == "state" || *context == "alloc" || *context == "all",
      "expected context to be 'state', 'alloc', 'all', or None");
  TORCH_CHECK_VALUE(stacks == "python" || stacks == "all", "expected stacks to be 'python', or 'all'");
  for (const std::string& action : skip_actions) {
    c10::CachingDeviceAllocator::parseTraceEntryAction(action);  // throws
  }
  auto when = RecordContext::NEVER;
  if (enabled && context) {
    when = *context == "all" ? RecordContext::ALL : (*context == "alloc" ? RecordContext::ALLOC : RecordContext::STATE);
  }
  const size_t entries = enabled && *enabled == "all" ? max_entries : 1;
  torch::installCapturedTracebackPython();
  const py::gil_scoped_release no_gil;
  getCurrentAllocator().recordHistory(
      enabled.has_value(), stacks == "all" ? gather_all : gather_python, entries, when, clear_history, skip_actions);
}

py::object allocation_traceback(uint64_t pointer) {
  const auto context = getCurrentAllocator().getContextForPointer(reinterpret_cast<void*>(static_cast<uintptr_t>(pointer)));
  auto* const traceback = dynamic_cast<CapturedTraceback*>(context.get());
  if (traceback == nullptr) {
    return py::none();
  }
  std::vector<CapturedTraceback*> one{traceback};
  return torch::py_symbolize(one).at(0);
}

}  // namespace

void bind_memory_history(py::module_& module) {
  module.def("_memory_snapshot", wrap_pybind_function(&snapshot));
  module.def("_record_memory_history", wrap_pybind_function(&record_history));
  module.def("_is_history_enabled", wrap_pybind_function([] { return getCurrentAllocator().isHistoryEnabled(); }));
  module.def("_allocation_traceback", wrap_pybind_function(&allocation_traceback));
  module.def("_set_memory_metadata", wrap_pybind_function([](const std::string& text) { getCurrentAllocator().setUserMetadata(text); }));
  module.def("_get_memory_metadata", wrap_pybind_function([] { return getCurrentAllocator().getUserMetadata(); }));
}

}  // namespace openreg
