// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "Module.h"
#include "runtime/DeviceErrors.h"

namespace openreg {
namespace {

void report_error(int64_t index, const char* what, bool lasting) {
  const auto device = static_cast<c10::DeviceIndex>(index);
  lasting ? report_device_error(device, what) : report_kernel_error(device, what);
}

}  // namespace

void bind_errors(pybind11::module_& module) {
  module.def("_report_error", &report_error, "For tests: as if a function launched on (device) failed, (what, lasting).");
}

}  // namespace openreg
