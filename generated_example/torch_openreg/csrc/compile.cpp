// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
#include <Python.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include "Module.h"
#include "host/alias/Queue.h"
#include "runtime/Functions.h"

// Note [Launching a compiled kernel]
// Inductor's kernels are C++ functions in libraries of their own. Each has an entry that takes packed arguments, 8 bytes each
// (_inductor/source.py writes it), and is launched like the device's own kernels: queued on the current stream, without
// the GIL, its exceptions reported by a later call. Memory of the device that the wrapper lets go of meanwhile is reused in the
// order of the stream. Memory of the CPU is not, and may be written right after the launch, so a kernel gets a copy of its value.

namespace openreg {
namespace {

using Entry = void (*)(const char* packed);

struct Task {
  explicit Task(Entry function) : entry(function) {}
  void operator()() { entry(reinterpret_cast<const char*>(packed.data())); }

  Entry entry;
  c10::DeviceIndex device = -1;
  c10::SmallVector<int64_t, 12> packed;
  std::vector<std::unique_ptr<char[]>> values;  // of tensors on the CPU
};

void pack_tensor(Task& task, PyObject* argument, c10::DeviceIndex device) {
  TORCH_CHECK_TYPE(THPVariable_Check(argument), "a compiled kernel expected a tensor, not ", Py_TYPE(argument)->tp_name);
  const at::Tensor& tensor = THPVariable_Unpack(argument);
  const char* data = static_cast<const char*>(tensor.const_data_ptr());
  if (tensor.is_privateuseone()) {
    TORCH_CHECK(tensor.device().index() == device, "a kernel compiled for openreg:", static_cast<int>(device),
        " got a tensor on ", tensor.device());
  } else {
    TORCH_CHECK(tensor.is_cpu(), "a kernel compiled for openreg got a tensor on ", tensor.device());
    const size_t bytes = at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.itemsize());
    task.values.push_back(std::make_unique<char[]>(bytes));
    if (bytes > 0) {
      std::memcpy(task.values.back().get(), data, bytes);
    }
    data = task.values.back().get();
  }
  task.packed.push_back(reinterpret_cast<int64_t>(data));
}

void pack(Task& task, char code, PyObject* argument, c10::DeviceIndex device) {
  if (code == 'p') {
    pack_tensor(task, argument, device);
    return;
  }
  int64_t bits = 0;
  if (code == 'f') {
    const auto value = static_cast<float>(PyFloat_AsDouble(argument));
    std::memcpy(&bits, &value, sizeof(value));
  } else {
    const auto number = pybind11::reinterpret_steal<pybind11::object>(PyNumber_Index(argument));
    bits = number ? PyLong_AsLongLong(number.ptr()) : -1;
  }
  if (PyErr_Occurred()) {
    throw python_error();
  }
  task.packed.push_back(bits);
}

// (entry, name, codes, device, *arguments): bound to a kernel by functools.partial. The name is the address of a string that is
// never released, for traces; 0: none.
PyObject* launch_compiled(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  constexpr Py_ssize_t kOwn = 4;
  TORCH_CHECK(count >= kOwn, "_launch_compiled(entry, name, codes, device, *arguments)");
  Py_ssize_t expected = 0;
  const char* codes = PyUnicode_AsUTF8AndSize(arguments[2], &expected);
  if (codes == nullptr) {
    throw python_error();
  }
  TORCH_CHECK(count - kOwn == expected, "a compiled kernel takes ", expected, " arguments, and got ", count - kOwn);
  const auto device = static_cast<c10::DeviceIndex>(PyLong_AsLong(arguments[3]));
  const auto* const name = static_cast<const char*>(PyLong_AsVoidPtr(arguments[1]));
  auto task = std::make_unique<Task>(reinterpret_cast<Entry>(PyLong_AsVoidPtr(arguments[0])));
  if (PyErr_Occurred()) {
    throw python_error();
  }
  for (Py_ssize_t i = 0; i < expected; ++i) {
    pack(*task, codes[i], arguments[i + kOwn], device);
  }
  {
    const pybind11::gil_scoped_release no_gil;
    const c10::OptionalDeviceGuard guard(c10::Device(c10::DeviceType::PrivateUse1, device));
    native::queue(std::move(task), name);
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

c10::SmallVector<int64_t, 6> to_sizes(PyObject* tuple) {
  TORCH_CHECK_TYPE(PyTuple_Check(tuple), "expected a tuple of integers");
  c10::SmallVector<int64_t, 6> sizes;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    const auto number = pybind11::reinterpret_steal<pybind11::object>(PyNumber_Index(PyTuple_GET_ITEM(tuple, i)));
    sizes.push_back(number ? PyLong_AsLongLong(number.ptr()) : -1);
    if (PyErr_Occurred()) {
      throw python_error();
    }
  }
  return sizes;
}

// (size, stride, dtype, device): torch.empty_strided, without what parsing its arguments costs.
PyObject* empty_strided(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(count == 4 && THPDtype_Check(arguments[2]), "_empty_strided(size, stride, dtype, device)");
  const auto size = to_sizes(arguments[0]);
  const auto stride = to_sizes(arguments[1]);
  const auto device = static_cast<c10::DeviceIndex>(PyLong_AsLong(arguments[3]));
  const auto dtype = reinterpret_cast<THPDtype*>(arguments[2])->scalar_type;
  at::Tensor made;
  {
    pybind11::gil_scoped_release no_gil;
    made = at::empty_strided(size, stride, at::device(c10::Device(c10::DeviceType::PrivateUse1, device)).dtype(dtype));
  }
  return THPVariable_Wrap(std::move(made));
  END_HANDLE_TH_ERRORS
}

PyCFunction fastcall(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

}  // namespace

void bind_compile(pybind11::module_& module) {
  static PyMethodDef methods[] = {
      {"_launch_compiled", fastcall(launch_compiled), METH_FASTCALL, "Queue a compiled kernel: (entry, name, codes, device, *arguments)."},
      {"_empty_strided", fastcall(empty_strided), METH_FASTCALL, "torch.empty_strided: (size, stride, dtype, device)."},
      {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(module.ptr(), methods) != 0) {
    throw python_error();
  }
}

}  // namespace openreg
