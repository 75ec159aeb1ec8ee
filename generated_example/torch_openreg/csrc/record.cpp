// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "Module.h"

#include <string>
#include <tuple>
#include <vector>

#include "aten/OpRecorder.h"

namespace openreg {
namespace {

std::vector<std::tuple<std::string, uint64_t>> recorded() {
  std::vector<std::tuple<std::string, uint64_t>> result;
  for (const RecordedOp& op : stop_recording()) {
    result.emplace_back(op.op, op.calls);
  }
  return result;
}

}  // namespace

void bind_record(pybind11::module_& module) {
  module.def("_start_recording", torch::wrap_pybind_function(&start_recording));
  module.def("_stop_recording", torch::wrap_pybind_function(&recorded));
}

}  // namespace openreg
