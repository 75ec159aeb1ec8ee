// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <Python.h>

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

// Each topic of the bindings adds its functions to the module _C.

namespace openreg {

void bind_compile(pybind11::module_& module);
void bind_distributed(pybind11::module_& module);
void bind_errors(pybind11::module_& module);
void bind_fallback(pybind11::module_& module);
void bind_graphs(pybind11::module_& module);
void bind_host_memory(pybind11::module_& module);
void bind_ipc(pybind11::module_& module);
void bind_memory(pybind11::module_& module);
void bind_memory_history(pybind11::module_& module);
void bind_pluggable(pybind11::module_& module);
void bind_pools(pybind11::module_& module);

}  // namespace openreg
