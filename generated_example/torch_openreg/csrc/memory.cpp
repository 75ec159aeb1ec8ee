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
#include "runtime/Allocator.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/PluggableAllocator.h"
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

// An optional function of a pluggable allocator, given by its address.
template <typename Signature>
Signature* function_at(uint64_t address) {
  TORCH_CHECK(address != 0, "the function's address is null");
  return reinterpret_cast<Signature*>(to_pointer(address));
}

void bind_allocators(py::module_& module) {
  using Pluggable = PluggableAllocator;
  using c10::MempoolId_t;
  py::class_<OpenRegAllocator, std::shared_ptr<OpenRegAllocator>>(module, "_Allocator")
      .def("name", &OpenRegAllocator::name);
  py::class_<Pluggable, OpenRegAllocator, std::shared_ptr<Pluggable>>(module, "_PluggableAllocator")
      .def("set_init_fn", wrap_pybind_function([](Pluggable& self, uint64_t fn) { self.set_init_fn(function_at<void(int)>(fn)); }))
      .def("set_reset_fn", wrap_pybind_function([](Pluggable& self, uint64_t fn) { self.set_reset_fn(function_at<void()>(fn)); }))
      .def("set_empty_cache_fn", wrap_pybind_function([](Pluggable& self, uint64_t fn) { self.set_empty_cache_fn(function_at<void()>(fn)); }))
      .def("set_memory_fraction_fn", wrap_pybind_function([](Pluggable& self, uint64_t fn) {
        self.set_memory_fraction_fn(function_at<void(double, int)>(fn));
      }))
      .def("set_base_alloc_fn", wrap_pybind_function([](Pluggable& self, uint64_t fn) {
        self.set_base_alloc_fn(function_at<void*(void*, size_t*)>(fn));
      }))
      .def("set_record_stream_fn", wrap_pybind_function([](Pluggable& self, uint64_t fn) {
        self.set_record_stream_fn(function_at<void(void*, orStream_t)>(fn));
      }))
      .def("set_begin_allocate_to_pool", wrap_pybind_function([](Pluggable& self, uint64_t fn) {
        self.set_begin_allocate_to_pool(function_at<void(int, MempoolId_t, StreamFilter)>(fn));
      }))
      .def("set_end_allocate_to_pool_fn", wrap_pybind_function([](Pluggable& self, uint64_t fn) {
        self.set_end_allocate_to_pool_fn(function_at<void(int, MempoolId_t)>(fn));
      }))
      .def("set_release_pool", wrap_pybind_function([](Pluggable& self, uint64_t fn) {
        self.set_release_pool(function_at<void(int, MempoolId_t)>(fn));
      }))
      .def("set_cache_info_fn", wrap_pybind_function([](Pluggable& self, uint64_t fn) {
        self.set_cache_info_fn(function_at<void(int, size_t*)>(fn));
      }))
      .def("set_device_stats_fn", wrap_pybind_function([](Pluggable& self, uint64_t fn) {
        self.set_device_stats_fn(function_at<void(int, c10::CachingDeviceAllocator::DeviceStats*)>(fn));
      }));
  module.def("_load_pluggable_allocator", wrap_pybind_function(&loadPluggableAllocator));
  module.def("_find_symbol", wrap_pybind_function([](const std::string& path, const std::string& name) {
    return reinterpret_cast<uintptr_t>(findSymbol(path, name));
  }));
  module.def("_custom_allocator", wrap_pybind_function([](uint64_t alloc_fn, uint64_t free_fn) {
    return std::make_shared<Pluggable>(function_at<Pluggable::AllocFn>(alloc_fn), function_at<Pluggable::FreeFn>(free_fn));
  }));
  module.def("_change_current_allocator", wrap_pybind_function(&changeCurrentAllocator));
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
  module.def("_cache_info", wrap_pybind_function_no_gil([](int64_t device) {
    size_t largest = 0;
    getCurrentAllocator().cacheInfo(to_index(device), &largest);
    return largest;
  }));
  module.def("_base_allocation", wrap_pybind_function_no_gil([](uint64_t pointer) {
    size_t size = 0;
    void* const base = getCurrentAllocator().getBaseAllocation(to_pointer(pointer), &size);
    return std::pair<uint64_t, uint64_t>(reinterpret_cast<uintptr_t>(base), size);
  }));
  module.def("_attach_out_of_memory_observer", wrap_pybind_function(&attach_observer));
  module.def("_allocator_backend", wrap_pybind_function([] { return getCurrentAllocator().name(); }));
}

}  // namespace openreg
