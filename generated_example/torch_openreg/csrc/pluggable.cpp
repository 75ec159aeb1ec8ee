// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <cstdint>
#include <memory>
#include <string>

#include "Module.h"
#include "runtime/PluggableAllocator.h"

namespace openreg {
namespace {

namespace py = pybind11;
using torch::wrap_pybind_function;
using torch::wrap_pybind_function_no_gil;

// An optional function of a pluggable allocator, given by its address.
template <typename Signature>
Signature* function_at(uint64_t address) {
  TORCH_CHECK(address != 0, "the function's address is null");
  return reinterpret_cast<Signature*>(static_cast<uintptr_t>(address));
}

}  // namespace

void bind_pluggable(py::module_& module) {
  using Pluggable = PluggableAllocator;
  using c10::MempoolId_t;
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
  module.def("_cache_info", wrap_pybind_function([](int64_t device) {
    size_t largest = 0;
    getCurrentAllocator().cacheInfo(static_cast<c10::DeviceIndex>(device), &largest);
    return largest;
  }));
  module.def("_base_allocation", wrap_pybind_function([](uint64_t pointer) {
    size_t size = 0;
    void* const base = getCurrentAllocator().getBaseAllocation(reinterpret_cast<void*>(static_cast<uintptr_t>(pointer)), &size);
    return std::pair<uint64_t, uint64_t>(reinterpret_cast<uintptr_t>(base), size);
  }));
  module.def("_find_symbol", wrap_pybind_function([](const std::string& path, const std::string& name) {
    return reinterpret_cast<uintptr_t>(findSymbol(path, name));
  }));
  module.def("_custom_allocator", wrap_pybind_function([](uint64_t alloc_fn, uint64_t free_fn) {
    return std::make_shared<Pluggable>(function_at<Pluggable::AllocFn>(alloc_fn), function_at<Pluggable::FreeFn>(free_fn));
  }));
  // What the functions of the allocator in use say.
  module.def("_cache_info", wrap_pybind_function_no_gil([](int64_t device) {
    size_t largest = 0;
    getCurrentAllocator().cacheInfo(static_cast<c10::DeviceIndex>(device), &largest);
    return largest;
  }));
  module.def("_base_allocation", wrap_pybind_function_no_gil([](uint64_t pointer) {
    size_t size = 0;
    void* const base = getCurrentAllocator().getBaseAllocation(reinterpret_cast<void*>(static_cast<uintptr_t>(pointer)), &size);
    return std::pair<uint64_t, uint64_t>(reinterpret_cast<uintptr_t>(base), size);
  }));
  module.def("_change_current_allocator", wrap_pybind_function(&changeCurrentAllocator));
}

}  // namespace openreg
