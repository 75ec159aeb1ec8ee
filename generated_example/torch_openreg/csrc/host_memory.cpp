// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "Module.h"
#include "runtime/HostAllocator.h"

namespace openreg {
namespace {

namespace py = pybind11;
using torch::wrap_pybind_function;

py::dict stat_dict(const c10::CachingAllocator::Stat& stat) {
  py::dict result;
  result["current"] = stat.current;
  result["peak"] = stat.peak;
  result["allocated"] = stat.allocated;
  result["freed"] = stat.freed;
  return result;
}

py::dict duration_dict(const c10::CachingAllocator::DurationStat& stat) {
  py::dict result;
  result["total"] = stat.total;
  result["max"] = stat.max;
  result["min"] = stat.min;
  result["count"] = stat.count;
  result["avg"] = stat.count == 0 ? 0 : stat.total / stat.count;
  return result;
}

py::dict statistics() {
  const at::HostStats stats = getHostAllocator()->get_stats();
  py::dict result;
  result["num_host_alloc"] = stats.num_host_alloc;
  result["num_host_free"] = stats.num_host_free;
  result["allocations"] = stat_dict(stats.allocations);
  result["allocated_bytes"] = stat_dict(stats.allocated_bytes);
  result["active_requests"] = stat_dict(stats.active_requests);
  result["active_bytes"] = stat_dict(stats.active_bytes);
  result["host_alloc_time"] = duration_dict(stats.host_alloc_time);
  result["host_free_time"] = duration_dict(stats.host_free_time);
  return result;
}

}  // namespace

void bind_host_memory(py::module_& module) {
  module.def("_host_memory_stats", wrap_pybind_function(&statistics));
  module.def("_reset_accumulated_host_memory_stats", wrap_pybind_function([] { getHostAllocator()->reset_accumulated_stats(); }));
  module.def("_reset_peak_host_memory_stats", wrap_pybind_function([] { getHostAllocator()->reset_peak_stats(); }));
}

}  // namespace openreg
