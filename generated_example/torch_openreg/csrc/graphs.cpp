// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#include <Python.h>

#include "Module.h"
#include "graphs/Capture.h"
#include "graphs/Graph.h"
#include "runtime/Functions.h"
#include "runtime/MemPool.h"

// Graphs themselves are PyTorch's torch._C._acceleratorGraph, over OpenRegGraph.

namespace openreg {

void bind_graphs(pybind11::module_& module) {
  module.def("_register_graphs", &register_graphs);
  module.def("_graph_pool_handle", &new_graph_pool);
  module.def("_is_current_stream_capturing", [] { return is_initialized() && is_current_stream_capturing(); });
}

}  // namespace openreg
