// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `profiler` in the spec changes it, then `openreg-gen generate`.
#pragma once

// Note [Profiling]
// torch.profiler uses Kineto, and Kineto gets the work of a device from a plug-in: KinetoProfiler.cpp, over the
// activities of the device's API (orActivityEnable and others), which a port may leave out; a trace then has only
// the CPU side. Each record of a kernel, copy or memset becomes one activity of the trace: on the row of its stream, linked
// to the operator that queued it by the correlation number that PyTorch gave to this thread for it.
// torch.autograd.profiler without Kineto asks ProfilerStubs instead, which are events.
// When off, nothing here runs; each launch then costs one load in the device library.
//
// A vendor with a tracing library like CUPTI or roctracer implements the five functions with it.

#include <c10/util/Exception.h>

#include "runtime/Export.h"

namespace openreg {

/// Names the kernel that this thread launches next, in traces. Without it a kernel is named after its operator. `name` must
/// live until the trace was read: a literal, mostly. Costs a load while nobody profiles.
OPENREG_RUNTIME_API void name_next_kernel(const char* name);

}  // namespace openreg
