// Shared by the kernels, which compute on the host.
#pragma once

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>

#include "runtime.h"

#define BYHAND_CHECK_FLOAT(TENSOR) TORCH_CHECK((TENSOR).is_floating_point(), "byhand: ", (TENSOR).scalar_type())

namespace byhand {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(std::size_t size) override {
    void* data = size == 0 ? nullptr : rt::allocate(size);
    TORCH_CHECK(size == 0 || data != nullptr, "byhand: no memory of ", size, " bytes");
    return {data, data, &rt::release, c10::Device(kType, static_cast<c10::DeviceIndex>(rt::current()))};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &rt::release; }
  void copy_data(void* to, const void* from, std::size_t size) const override { rt::copy(to, from, size); }
};

inline Memory memory_of_devices;

/// The tensor's memory as a tensor of the CPU.
inline at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
}

}  // namespace byhand
