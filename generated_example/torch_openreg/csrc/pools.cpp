// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "Module.h"
#include "runtime/Functions.h"
#include "runtime/MemPool.h"

namespace openreg {
namespace {

namespace py = pybind11;
using torch::wrap_pybind_function;
using torch::wrap_pybind_function_no_gil;

std::shared_ptr<MemPool> make_pool(
    std::shared_ptr<OpenRegAllocator> allocator, bool is_user_created, bool use_on_oom, bool no_split) {
  return std::make_shared<MemPool>(std::move(allocator), is_user_created, use_on_oom, no_split);
}

c10::DeviceIndex device_of_pool(int64_t value) {
  TORCH_CHECK(value >= -1 && value <= std::numeric_limits<c10::DeviceIndex>::max(), "invalid device index ", value);
  return resolve_device_index(static_cast<c10::DeviceIndex>(value));
}

}  // namespace

void bind_pools(py::module_& module) {
  py::class_<MemPool, std::shared_ptr<MemPool>>(module, "_MemPool")
      .def(py::init(wrap_pybind_function(&make_pool)))
      .def_property_readonly("id", &MemPool::id)
      .def_property_readonly("allocator", &MemPool::allocator)
      .def_property_readonly("device", &MemPool::device)
      .def("use_count", wrap_pybind_function_no_gil([](MemPool& self) { return self.use_count(); }));
  module.def("_begin_allocate_current_thread_to_pool", wrap_pybind_function_no_gil([](int64_t device, c10::MempoolId_t id) {
    beginAllocateCurrentThreadToPool(device_of_pool(device), id);
  }));
  module.def("_end_allocate_to_pool", wrap_pybind_function_no_gil([](int64_t device, c10::MempoolId_t id) {
    current_pools().endAllocateToPool(device_of_pool(device), id);
  }));
  module.def("_release_pool", wrap_pybind_function_no_gil([](int64_t device, c10::MempoolId_t id) {
    current_pools().releasePool(device_of_pool(device), id);
  }));
}

}  // namespace openreg
