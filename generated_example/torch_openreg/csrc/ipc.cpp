// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <string>

#include <torch/csrc/Storage.h>

#include "Module.h"
#include "runtime/Ipc.h"

namespace openreg {
namespace {

namespace py = pybind11;
using torch::wrap_pybind_function;
using torch::wrap_pybind_function_no_gil;

py::bytes share(const py::object& storage) {
  TORCH_CHECK_TYPE(THPStorage_Check(storage.ptr()), "expected a torch.UntypedStorage");
  std::string message;
  {
    const c10::Storage unpacked = THPStorage_Unpack(storage.ptr());
    const py::gil_scoped_release no_gil;
    message = shareStorage(unpacked);
  }
  return py::bytes(message);
}

py::object open(const std::string& message) {
  c10::Storage storage;
  {
    const py::gil_scoped_release no_gil;
    storage = openStorage(message);
  }
  return py::reinterpret_steal<py::object>(THPStorage_Wrap(std::move(storage)));
}

}  // namespace

void bind_ipc(py::module_& module) {
  module.def("_ipc_share", wrap_pybind_function(&share));
  module.def("_ipc_open", wrap_pybind_function([](const py::bytes& message) { return open(message); }));
  module.def("_ipc_collect", wrap_pybind_function_no_gil([] { return ipcCollect(); }));
  module.def("_can_device_access_peer", wrap_pybind_function([](int device, int peer) {
    return canDeviceAccessPeer(static_cast<c10::DeviceIndex>(device), static_cast<c10::DeviceIndex>(peer));
  }));
  module.def("_enable_peer_access", wrap_pybind_function([](int device, int peer) {
    return enablePeerAccess(static_cast<c10::DeviceIndex>(device), static_cast<c10::DeviceIndex>(peer));
  }));
}

}  // namespace openreg
