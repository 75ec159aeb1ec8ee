// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/DefaultDtype.h>

#include "aten/native/Kernels.h"
#include "runtime/Allocator.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"

namespace lessons::native {
namespace {

constexpr c10::DispatchKeySet kDense(c10::DispatchKey::PrivateUse1);

void check_options(std::optional<at::Layout> layout, std::optional<bool> pin_memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      layout.value_or(at::kStrided) == at::kStrided, "lessons has only strided tensors, not ", *layout);
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

/// The device that was asked for; without an index if none was, for a guard, which then takes the current one. A guard also
/// checks an index, unless it is the current device's.
at::Device wanted_device(std::optional<at::Device> device) {
  TORCH_CHECK(!device.has_value() || device->is_privateuseone(), "expected a device of type lessons, got ",
      *device);
  return device.value_or(at::Device(c10::DeviceType::PrivateUse1));
}

at::Tensor filled_if_deterministic(at::Tensor tensor) {
  return fills_new_memory() ? at::native::fill_empty_deterministic_(tensor) : tensor;
}

}  // namespace

bool fills_new_memory() {
  return at::globalContext().deterministicAlgorithms() &&
      at::globalContext().deterministicFillUninitializedMemory();
}

at::Device resolve_device(std::optional<at::Device> device) {
  return {c10::DeviceType::PrivateUse1, resolve_device_index(wanted_device(device).index())};
}

at::Tensor empty_memory_format(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> layout, std::optional<at::Device> device, std::optional<bool> pin_memory,
    std::optional<at::MemoryFormat> memory_format) {
  check_options(layout, pin_memory);
  const LessonsGuard guard(wanted_device(device));
  return filled_if_deterministic(at::detail::empty_generic(
      size, getDeviceAllocator(), kDense, c10::dtype_or_default(dtype), memory_format));
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> layout, std::optional<at::Device> device, std::optional<bool> pin_memory) {
  check_options(layout, pin_memory);
  const LessonsGuard guard(wanted_device(device));
  return filled_if_deterministic(at::detail::empty_strided_generic(
      size, stride, getDeviceAllocator(), kDense, c10::dtype_or_default(dtype)));
}

}  // namespace lessons::native
