// What a tree of `device: {api: opencl}` needs: headers, the loader's drivers, and what each device lacks.
#pragma once

#include "cli/doctor_checks.h"

namespace openreg_gen {

/// Asks clinfo, as this command is built without OpenCL.
std::vector<Check> run_opencl_checks(const Probe& probe);

}  // namespace openreg_gen
