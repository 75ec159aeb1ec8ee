// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.

// Note [The bindings]
// What the Python package needs and torch.accelerator has no call for: the device count without a guard, first use and
// fork, properties, default generators, ends of scopes. All else (current stream, events, memory) reaches the device
// through PyTorch's own bindings and the guard, hooks and allocator that libtorch_openreg.so registers. Components add
// functions from files of their own (Module.h). wrap_pybind_function turns C++ exceptions into PyTorch's Python ones
// (torch.AcceleratorError, torch.OutOfMemoryError); what may wait for the device releases the GIL.

// Note [Autograd's threads when Python ends]
// backward() runs on a thread of each device, and a copy of Python's context goes with it. The caller goes on as soon as
// the gradients are there; the thread frees that copy a moment later, for which it needs the GIL. If Python is ending by
// then, it ends the thread instead, in the midst of C++ code that may not throw, and the process aborts ("terminate called
// without an active exception"). So the package waits at exit: a backward pass over nothing, with no copy of the context, which
// a device's thread takes up only when it has put the one before away.

#include <Python.h>

#include <limits>

#include <ATen/ops/empty.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/pybind.h>

#include "Module.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Generator.h"
#include "runtime/Stream.h"

namespace openreg {
namespace {

namespace py = pybind11;
using torch::wrap_pybind_function;
using torch::wrap_pybind_function_no_gil;

c10::DeviceIndex checked_index(int64_t value) {
  TORCH_CHECK(value >= -1 && value <= std::numeric_limits<c10::DeviceIndex>::max(), "invalid device index ", value);
  return static_cast<c10::DeviceIndex>(value);
}

void init() {
  initialize();
  // From here on a child of fork() has to come through here again, and is refused.
  torch::utils::register_fork_handler_for_device_init(c10::DeviceType::PrivateUse1);
}

void set_device_index(int64_t index) { set_device(checked_index(index)); }

int64_t exchange_device_index(int64_t index) { return exchange_device(checked_index(index)); }

void synchronize(int64_t index) { device_synchronize(checked_index(index)); }

// What ends a scope must not raise: a failure is a warning on the error stream, also where warnings are errors.
void restore_device(int64_t index) {
  if (index >= 0) {
    OPENREG_WARN(orSetDevice(static_cast<int>(index)));
  }
}

void restore_stream(int64_t id, int64_t device) {
  const c10::Device where(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device));
  never_throw("the current stream was restored", [&] {
    setCurrentStream(OpenRegStream(c10::Stream(c10::Stream::UNSAFE, where, id)));
  });
}

py::dict properties(int64_t index) {
  const orDeviceProperties device = device_properties(resolve_device_index(checked_index(index)));
  py::dict result;
  result["name"] = device.name;
  result["total_memory"] = device.totalMemory;
  result["multi_processor_count"] = device.multiProcessorCount;
  result["major"] = device.major;
  result["minor"] = device.minor;
  result["host_accessible"] = device.hostAccessible != 0;
  return result;
}

// The wrapper lives as long as the generator, which is never destroyed; a second call returns the same object.
py::object default_generator(int64_t index) {
  return py::reinterpret_steal<py::object>(THPGenerator_Wrap(getDefaultGenerator(checked_index(index))));
}

// See Note [Autograd's threads when Python ends].
void wait_for_autograd() {
  if (isInBadFork() || !c10::impl::hasDeviceGuardImpl(c10::DeviceType::PrivateUse1)) {
    return;
  }
  for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
    if (device_has_context(device)) {
      try {
        const at::TensorOptions options(c10::Device(c10::DeviceType::PrivateUse1, device));
        const at::Tensor input = at::empty({0}, options).requires_grad_(true);
        torch::autograd::grad({input.view({0})}, {input}, {at::empty({0}, options)});
      } catch (...) {  // a device that has failed: the script has had that error already
      }
    }
  }
}

void bind(py::module_& module) {
  module.def("_init", wrap_pybind_function(&init));
  module.def("_is_initialized", &is_initialized);
  module.def("_is_in_bad_fork", &isInBadFork);
  module.def("_device_count", &device_count);
  module.def("_current_device", wrap_pybind_function(&current_device));
  module.def("_set_device", wrap_pybind_function(&set_device_index));
  module.def("_exchange_device", wrap_pybind_function(&exchange_device_index));
  module.def("_restore_device", &restore_device);  // without the wrapper, which raises where warnings are errors
  module.def("_restore_stream", &restore_stream);
  module.def("_synchronize", wrap_pybind_function_no_gil(&synchronize));
  module.def("_device_properties", wrap_pybind_function(&properties));
  module.def("_default_generator", wrap_pybind_function(&default_generator));
  module.def("_wait_for_autograd", wrap_pybind_function_no_gil(&wait_for_autograd));
  bind_compile(module);
  bind_distributed(module);
  bind_errors(module);
  bind_fallback(module);
  bind_graphs(module);
  bind_host_memory(module);
  bind_ipc(module);
  bind_memory(module);
  bind_memory_history(module);
  bind_pluggable(module);
  bind_pools(module);
}

constexpr const char* description = "Bindings of the openreg backend. Use torch.openreg instead.";
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torch_openreg._C", description, -1, nullptr, nullptr, nullptr, nullptr, nullptr};

PyObject* make_module() {
  HANDLE_TH_ERRORS
  auto module = py::reinterpret_steal<py::module_>(PyModule_Create(&definition));
  if (!module) {
    throw python_error();
  }
  bind(module);
  return module.release().ptr();
  END_HANDLE_TH_ERRORS
}

}  // namespace
}  // namespace openreg

extern "C" __attribute__((visibility("default"))) PyObject* openreg_init_module() { return openreg::make_module(); }
