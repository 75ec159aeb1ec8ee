// A backend whose device is the host's memory. It registers what a tutorial registers, and nothing more.

#include <torch/extension.h>

#include <ATen/EmptyTensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace {

constexpr auto kDevice = c10::DeviceType::PrivateUse1;
std::atomic<int64_t> allocated{0};

// --- memory

struct Block {
  void* data;
  size_t bytes;
};

void release(void* context) {
  auto* block = static_cast<Block*>(context);
  allocated -= static_cast<int64_t>(block->bytes);
  std::free(block->data);
  delete block;
}

struct PlainAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    auto* block = new Block{bytes ? std::malloc(bytes) : nullptr, bytes};
    TORCH_CHECK(block->data || !bytes, "plain: no memory for ", bytes, " bytes");
    allocated += static_cast<int64_t>(bytes);
    return {block->data, block, &release, c10::Device(kDevice, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return nullptr;
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

PlainAllocator allocator;
REGISTER_ALLOCATOR(kDevice, &allocator);

// --- the guard: one device, one stream, no events

struct PlainGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override {
    return kDevice;
  }
  c10::Device exchangeDevice(c10::Device) const override {
    return getDevice();
  }
  c10::Device getDevice() const override {
    return {kDevice, 0};
  }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < 1, "plain: there is no device ", device);
  }
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override {
    return c10::Stream(c10::Stream::DEFAULT, getDevice());
  }
  c10::Stream exchangeStream(c10::Stream) const override {
    return c10::Stream(c10::Stream::DEFAULT, getDevice());
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return 1;
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, PlainGuard);

// --- kernels

constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

at::Tensor plain_empty(
    c10::IntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>,
    std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &allocator, keys, c10::dtype_or_default(dtype), format);
}

at::Tensor plain_empty_strided(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &allocator, keys, c10::dtype_or_default(dtype));
}

// The same memory as a tensor of the CPU: this device's memory is the host's.
at::Tensor on_host(const at::Tensor& x) {
  if (x.device().is_cpu()) return x;
  return at::from_blob(x.data_ptr(), x.sizes(), x.strides(), x.options().device(at::kCPU));
}

at::Tensor plain_copy_from(const at::Tensor& self, const at::Tensor& target, bool) {
  on_host(target).copy_(on_host(self));
  return target;
}

at::Tensor& plain_copy_(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  plain_copy_from(source, self, non_blocking);
  return self;
}

at::Tensor& plain_fill_(at::Tensor& self, const at::Scalar& value) {
  on_host(self).fill_(value);
  return self;
}

at::Tensor plain_add(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {
  TORCH_CHECK(self.sizes() == other.sizes(), "plain: add of ", self.sizes(), " and ", other.sizes());
  TORCH_CHECK(self.scalar_type() == at::kFloat && other.scalar_type() == at::kFloat, "plain: add takes float32");
  const auto a = self.contiguous(), b = other.contiguous();
  auto result = at::empty(a.sizes(), a.options());
  const auto *x = a.data_ptr<float>(), *y = b.data_ptr<float>();
  auto* z = result.data_ptr<float>();
  const auto factor = alpha.to<float>();
  for (int64_t i = 0; i < a.numel(); ++i) z[i] = x[i] + factor * y[i];
  return result;
}

at::Tensor plain_mm(const at::Tensor& self, const at::Tensor& other) {
  const auto result = at::mm(on_host(self), on_host(other));
  auto ours = at::empty(result.sizes(), self.options());
  on_host(ours).copy_(result);
  return ours;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &plain_empty);
  m.impl("empty_strided", &plain_empty_strided);
  m.impl("_copy_from", &plain_copy_from);
  m.impl("copy_", &plain_copy_);
  m.impl("fill_.Scalar", &plain_fill_);
  m.impl("add.Tensor", &plain_add);
  m.impl("mm", &plain_mm);
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("allocated", [] { return allocated.load(); });
}
