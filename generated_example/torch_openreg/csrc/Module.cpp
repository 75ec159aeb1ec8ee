// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.

// Note [The bindings]
// What the Python package needs and torch.accelerator has no call for: the device count without a guard, first use and
// fork, properties, default generators. All else (current device, streams, events, memory) reaches the device through
// PyTorch's own bindings and the guard, hooks and allocator that libtorch_openreg.so registers.
//
// Here are the functions of devices; memory has files of its own (Module.h).
// Plain CPython calls: one table of functions needs no binding library. HANDLE_TH_ERRORS turns C++ exceptions into
// PyTorch's Python ones (torch.AcceleratorError, torch.OutOfMemoryError), and warnings into Python warnings.
// Threads: Python calls in with the GIL held; what may wait for the device releases it.

#include <Python.h>

#include <limits>

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/device_lazy_init.h>

#include "Module.h"
#include "runtime/DeviceErrors.h"
#include "runtime/DeviceScope.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Generator.h"
#include "runtime/Stream.h"

namespace openreg {
namespace {

c10::DeviceIndex to_index(PyObject* argument) {
  const long value = PyLong_AsLong(argument);
  if (value == -1 && PyErr_Occurred()) {
    throw python_error();
  }
  TORCH_CHECK(value >= -1 && value <= std::numeric_limits<c10::DeviceIndex>::max(), "invalid device index ", value);
  return static_cast<c10::DeviceIndex>(value);
}

PyObject* init(PyObject*, PyObject*) {
  HANDLE_TH_ERRORS
  initialize();
  // From here on a child of fork() has to come through here again, and is refused.
  torch::utils::register_fork_handler_for_device_init(c10::DeviceType::PrivateUse1);
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

PyObject* py_is_initialized(PyObject*, PyObject*) { return PyBool_FromLong(is_initialized()); }

PyObject* py_is_in_bad_fork(PyObject*, PyObject*) { return PyBool_FromLong(isInBadFork()); }

PyObject* py_device_count(PyObject*, PyObject*) { return PyLong_FromLong(device_count()); }

PyObject* py_current_device(PyObject*, PyObject*) {
  HANDLE_TH_ERRORS
  return PyLong_FromLong(current_device());
  END_HANDLE_TH_ERRORS
}

PyObject* py_set_device(PyObject*, PyObject* index) {
  HANDLE_TH_ERRORS
  set_device(to_index(index));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

PyObject* py_exchange_device(PyObject*, PyObject* index) {
  HANDLE_TH_ERRORS
  return PyLong_FromLong(exchange_device(to_index(index)));
  END_HANDLE_TH_ERRORS
}

// What ends a scope must not raise: a failure is a warning on the error stream, also where warnings are errors.
PyObject* py_restore_device(PyObject*, PyObject* index) {
  const long value = PyLong_AsLong(index);
  if (value == -1 && PyErr_Occurred()) {
    return nullptr;
  }
  restore_device(static_cast<c10::DeviceIndex>(value));
  Py_RETURN_NONE;
}

PyObject* py_restore_stream(PyObject*, PyObject* arguments) {
  long long id = 0;
  int device = 0;
  if (!PyArg_ParseTuple(arguments, "Li", &id, &device)) {
    return nullptr;
  }
  const c10::Device where(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device));
  never_throw("the current stream was restored", [&] {
    setCurrentStream(OpenRegStream(c10::Stream(c10::Stream::UNSAFE, where, id)));
  });
  Py_RETURN_NONE;
}

PyObject* py_report_error(PyObject*, PyObject* arguments) {
  int device = 0;
  const char* what = nullptr;
  int lasting = 0;
  if (!PyArg_ParseTuple(arguments, "isp", &device, &what, &lasting)) {
    return nullptr;
  }
  lasting != 0 ? report_device_error(static_cast<c10::DeviceIndex>(device), what)
               : report_kernel_error(static_cast<c10::DeviceIndex>(device), what);
  Py_RETURN_NONE;
}

PyObject* py_synchronize(PyObject*, PyObject* index) {
  HANDLE_TH_ERRORS
  const c10::DeviceIndex device = to_index(index);
  {
    pybind11::gil_scoped_release no_gil;
    device_synchronize(device);
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

PyObject* py_device_properties(PyObject*, PyObject* index) {
  HANDLE_TH_ERRORS
  const orDeviceProperties p = device_properties(to_index(index));
  const auto memory = static_cast<Py_ssize_t>(p.totalMemory);
  PyObject* accessible = PyBool_FromLong(p.hostAccessible);
  return Py_BuildValue("(sniiiN)", p.name, memory, p.multiProcessorCount, p.major, p.minor, accessible);
  END_HANDLE_TH_ERRORS
}

// The wrapper lives as long as the generator, which is never destroyed; a second call returns the same object.
PyObject* py_default_generator(PyObject*, PyObject* index) {
  HANDLE_TH_ERRORS
  return THPGenerator_Wrap(getDefaultGenerator(to_index(index)));
  END_HANDLE_TH_ERRORS
}

PyMethodDef methods[] = {
    {"_init", init, METH_NOARGS, "Declare first use of a device; raises in a child of fork() whose parent has used one."},
    {"_is_initialized", py_is_initialized, METH_NOARGS, "Whether this process has used a device."},
    {"_is_in_bad_fork", py_is_in_bad_fork, METH_NOARGS, "Whether this is a child of fork() whose parent has used a device."},
    {"_device_count", py_device_count, METH_NOARGS, "The number of devices; 0 if the driver can't be asked."},
    {"_current_device", py_current_device, METH_NOARGS, "The calling thread's device."},
    {"_set_device", py_set_device, METH_O, "Make a device the calling thread's."},
    {"_exchange_device", py_exchange_device, METH_O, "Make a device the calling thread's and return the previous one."},
    {"_restore_device", py_restore_device, METH_O, "Make a device the calling thread's again; never raises."},
    {"_restore_stream", py_restore_stream, METH_VARARGS, "Make a stream (id, device) current again; never raises."},
    {"_report_error", py_report_error, METH_VARARGS, "For tests: as if a function launched on (device) failed, (what, lasting)."},
    {"_synchronize", py_synchronize, METH_O, "Wait until a device (-1: the current one) is idle."},
    {"_device_properties", py_device_properties, METH_O, "The fields of DeviceProperties, as a tuple."},
    {"_default_generator", py_default_generator, METH_O, "The default generator of a device (-1: the current one)."},
    {nullptr, nullptr, 0, nullptr}};

constexpr const char* description = "Bindings of the openreg backend. Use torch.openreg instead.";
PyModuleDef module = {PyModuleDef_HEAD_INIT, "torch_openreg._C", description, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyObject* make_module() {
  HANDLE_TH_ERRORS
  auto result = pybind11::reinterpret_steal<pybind11::module_>(PyModule_Create(&module));
  if (!result) {
    throw python_error();
  }
  bind_compile(result);
  bind_distributed(result);
  bind_fallback(result);
  bind_graphs(result);
  bind_host_memory(result);
  bind_ipc(result);
  bind_memory(result);
  bind_memory_history(result);
  bind_pluggable(result);
  bind_pools(result);
  return result.release().ptr();
  END_HANDLE_TH_ERRORS
}

}  // namespace
}  // namespace openreg

extern "C" __attribute__((visibility("default"))) PyObject* openreg_init_module() { return openreg::make_module(); }
