// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.

// Note [Bindings of memory]
// What torch.openreg.memory calls. PyTorch's own bindings reach the allocator as far as c10::DeviceAllocator goes
// (statistics, empty_cache); the rest is here. Functions that may wait for the device release the GIL. C++ exceptions
// become PyTorch's Python ones in wrap_pybind_function.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include <c10/core/AllocatorConfig.h>

#include "Module.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/MemoryAllocator.h"
#include "runtime/Stream.h"

namespace openreg {
namespace {

namespace py = pybind11;
using torch::wrap_pybind_function;
using torch::wrap_pybind_function_no_gil;

c10::DeviceIndex to_index(int64_t value) {
  TORCH_CHECK(value >= -1 && value <= std::numeric_limits<c10::DeviceIndex>::max(), "invalid device index ", value);
  return resolve_device_index(static_cast<c10::DeviceIndex>(value));
}

void* to_pointer(uint64_t address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

uint64_t raw_alloc(uint64_t size, int64_t device, uint64_t stream) {
  const OpenRegGuard guard(to_index(device));
  void* const data = getCurrentAllocator().raw_alloc_with_stream(size, static_cast<orStream_t>(to_pointer(stream)));
  return reinterpret_cast<uintptr_t>(data);
}

void bind_allocators(py::module_& module) {
  py::class_<OpenRegAllocator, std::shared_ptr<OpenRegAllocator>>(module, "_Allocator")
      .def("name", &OpenRegAllocator::name);
  module.def("_get_allocator", wrap_pybind_function(&getCurrentAllocatorShared));
}

// An observer of Python's could not be released once the interpreter is gone, so the object is kept until the process ends.
void attach_observer(py::function observer) {
  auto* const kept = new py::function(std::move(observer));
  getCurrentAllocator().attachOutOfMemoryObserver([kept](int64_t device, size_t allocated, size_t total, size_t free) {
    const py::gil_scoped_acquire gil;
    try {
      (*kept)(device, allocated, total, free);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("an out of memory observer");
    }
  });
}

}  // namespace

void bind_memory(py::module_& module) {
  bind_allocators(module);
  module.def("_stream_handle", wrap_pybind_function([](int64_t stream_id, int64_t device) {
    const c10::Stream stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::PrivateUse1, to_index(device)), stream_id);
    return reinterpret_cast<uintptr_t>(OpenRegStream(stream).stream());
  }));
  module.def("_raw_alloc", wrap_pybind_function_no_gil(&raw_alloc));
  module.def("_raw_delete", wrap_pybind_function_no_gil([](uint64_t pointer) { getCurrentAllocator().raw_delete(to_pointer(pointer)); }));
  module.def("_enable_caching", wrap_pybind_function_no_gil([](bool value) { getCurrentAllocator().enable(value); }));
  module.def("_is_caching_enabled", wrap_pybind_function([] { return getCurrentAllocator().isEnabled(); }));
  module.def("_set_memory_fraction", wrap_pybind_function_no_gil([](double fraction, int64_t device) {
    getCurrentAllocator().setMemoryFraction(fraction, to_index(device));
  }));
  module.def("_get_memory_fraction", wrap_pybind_function([](int64_t device) {
    return getCurrentAllocator().getMemoryFraction(to_index(device));
  }));
  // What the device says; without component host_alias, code of the host runs on copies all the same.
  module.def("_host_accessible", wrap_pybind_function([](int64_t device) { return device_properties(to_index(device)).hostAccessible; }));
  module.def("_attach_out_of_memory_observer", wrap_pybind_function(&attach_observer));
  module.def("_allocator_backend", wrap_pybind_function([] { return getCurrentAllocator().name(); }));
}

}  // namespace openreg
