// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#include <Python.h>

#ifdef USE_DISTRIBUTED

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/chrono.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "Module.h"
#include "distributed/ProcessGroup.h"

namespace openreg {
namespace {

using Group = distributed::ProcessGroupOpenReg;

pybind11::list last_operations(const Group& group) {
  pybind11::list all;
  for (const auto& operation : group.journal()->last()) {
    pybind11::dict row;
    row["name"] = operation->name;
    row["sequence"] = operation->sequence;
    row["tensors"] = operation->what;
    row["state"] = distributed::name_of(operation->state());
    row["error"] = operation->message();
    all.append(row);
  }
  return all;
}

}  // namespace

void bind_distributed(pybind11::module_& module) {
  pybind11::module_::import("torch._C._distributed_c10d");  // the classes below derive from its
  const auto no_gil = pybind11::call_guard<pybind11::gil_scoped_release>();
  using Options = distributed::GroupOptions;
  pybind11::class_<Options, c10d::Backend::Options, c10::intrusive_ptr<Options>>(module, "ProcessGroupOpenRegOptions")
      .def("__deepcopy__", [](const Options& self, const pybind11::dict&) { return c10::make_intrusive<Options>(self); });
  pybind11::class_<Group, c10d::Backend, c10::intrusive_ptr<Group>>(module, "ProcessGroupOpenReg")
      .def_property_readonly("options", &Group::getBackendOptions)
      .def("perform_nocolor_split", [](Group&, const pybind11::object&) {})
      .def("_error", [](Group& self) { return static_cast<int>(self.getError()); }, "How the group failed: the value of an ErrorType.")
      .def("_last_operations", &last_operations, "What the group did last: dicts of name, sequence, tensors, state, error.");
  module.def("_new_process_group", &distributed::new_process_group, no_gil);
}

}  // namespace openreg

#else

#include "Module.h"

namespace openreg {
void bind_distributed(pybind11::module_&) {}  // a PyTorch without torch.distributed
}  // namespace openreg

#endif
