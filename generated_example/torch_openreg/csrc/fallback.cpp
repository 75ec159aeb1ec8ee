// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "Module.h"

#include <string>
#include <tuple>
#include <vector>

#include "host/FallbackReport.h"

namespace openreg {
namespace {

namespace py = pybind11;

/// (op, kind, calls, bytes to the host, bytes to the device, seconds, strategy, reason, cause)
using Count = std::tuple<std::string, std::string, uint64_t, uint64_t, uint64_t, double, std::string, std::string, std::string>;

std::vector<Count> counts() {
  std::vector<Count> result;
  for (const FallbackCount& count : fallback_counts()) {
    result.emplace_back(count.op, count.aliased ? "alias" : "copy", count.calls, count.bytes_to_host,
        count.bytes_to_device, count.seconds, count.strategy, count.reason, count.cause);
  }
  return result;
}

}  // namespace

void bind_fallback(py::module_& module) {
  module.def("_fallback_counts", torch::wrap_pybind_function(&counts));
  module.def("_reset_fallback_counts", torch::wrap_pybind_function(&reset_fallback_counts));
}

}  // namespace openreg
