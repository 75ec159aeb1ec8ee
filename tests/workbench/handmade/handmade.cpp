// A backend as people write them by hand, for the tests of the audit: host memory, a device guard, a few kernels and
// the CPU fallback. Its holes are planted, each with its test in test_audit.py:
// - no hooks, no generator, no autocast;
// - `hypot.out` takes float32 only;
// - `unfold`, a view, is missing;
// - the fallback is registered for `square`, which PyTorch would make of other operators;
// - Event.elapsed_time() aborts, and synchronize() does not end.
#include <ATen/ATen.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(std::size_t size) override {
    void* data = size == 0 ? nullptr : std::malloc(size);
    TORCH_CHECK(size == 0 || data != nullptr, "handmade: no memory of ", size, " bytes");
    return {data, data, &std::free, c10::Device(kType, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void* to, const void* from, std::size_t size) const override { default_copy_data(to, from, size); }
};
Memory memory;
REGISTER_ALLOCATOR(kType, &memory);

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::Device getDevice() const override { return {kType, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Stream getStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream getNewStream(c10::Device device, int) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void record(void** event, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {
    static int any = 0;
    *event = &any;
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
  double elapsedTime(void*, void*, const c10::DeviceIndex) const override { std::abort(); }  // planted
  void synchronizeDevice(const c10::DeviceIndex) const override {                            // planted
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_strided_generic(sizes, strides, &memory, keys,
                                           dtype.value_or(at::typeMetaToScalarType(at::get_default_dtype())));
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_generic(sizes, &memory, keys,
                                   dtype.value_or(at::typeMetaToScalarType(at::get_default_dtype())), format);
}

/// The tensor's memory as a tensor of the CPU.
at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool) {
  if (self.numel() != 0) on_host(dst).copy_(on_host(self).expand(dst.sizes()));
  return dst;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  dst.resize_(self.sizes());
  return copy_from(self, dst, false);
}

const at::Tensor& resize(const at::Tensor& self, c10::SymIntArrayRef sizes, std::optional<at::MemoryFormat>) {
  const auto shape = C10_AS_INTARRAYREF_SLOW(sizes);
  const auto bytes = static_cast<std::size_t>(c10::multiply_integers(shape)) * self.element_size();
  auto* storage = self.storage().unsafeGetStorageImpl();
  if (storage->nbytes() < bytes) {
    auto data = memory.allocate(bytes);
    std::memcpy(data.get(), storage->data(), storage->nbytes());
    storage->set_data_ptr_noswap(std::move(data));
    storage->set_nbytes(bytes);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(shape);
  return self;
}

at::Tensor view_of(const at::Tensor& self, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                   std::optional<int64_t> offset) {
  auto result = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(self.storage()),
                                                         self.key_set(), self.dtype());
  result.unsafeGetTensorImpl()->set_storage_offset(offset.value_or(self.storage_offset()));
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return result;
}

at::Tensor view(const at::Tensor& self, c10::IntArrayRef sizes) {
  const auto there = on_host(self).view(sizes);  // of the same strides
  return view_of(self, there.sizes(), there.strides(), self.storage_offset());
}

at::Tensor& fill(at::Tensor& self, const at::Scalar& value) {
  on_host(self).fill_(value);
  return self;
}

at::Tensor& zero(at::Tensor& self) {
  on_host(self).zero_();
  return self;
}

at::Scalar local_scalar_dense(const at::Tensor& self) { return on_host(self).item(); }

at::Tensor& hypot_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  TORCH_CHECK(self.scalar_type() == at::kFloat, "handmade: hypot of ", self.scalar_type());  // planted
  out.resize_(at::infer_size(self.sizes(), other.sizes()));
  auto there = on_host(out);
  at::hypot_out(there, on_host(self), on_host(other));
  return out;
}

void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { at::native::cpu_fallback(op, stack); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("resize_", resize);
  m.impl("as_strided", view_of);
  m.impl("view", view);
  m.impl("fill_.Scalar", fill);
  m.impl("zero_", zero);
  m.impl("_local_scalar_dense", local_scalar_dense);
  m.impl("hypot.out", hypot_out);
  m.impl("square", torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());  // planted
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>()); }

}  // namespace
