// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "aten/HostAlias.h"

#include <openreg.h>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include "aten/native/Kernels.h"
#include "aten/native/Launch.h"
#include "runtime/Exception.h"
#include "runtime/Stream.h"

namespace openreg {
namespace {

/// Keeps the warnings of a function, to be given again on a thread that has somebody listening.
class Warnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override { kept_.push_back(warning); }
  void give() const {
    for (const c10::Warning& warning : kept_) {
      c10::warn(warning);
    }
  }

 private:
  std::vector<c10::Warning> kept_;
};

/// A function that runs on a stream's thread while the host waits. Lives on the host's stack.
class Errand {
 public:
  Errand(c10::function_ref<void()> fn, int threads) : fn_(fn), threads_(threads) {}

  static void run(void* self) noexcept { static_cast<Errand*>(self)->run(); }

  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    finished_.wait(lock, [this] { return done_; });
  }

  void report() {
    warnings_.give();
    if (error_ != nullptr) {
      std::rethrow_exception(std::move(error_));
    }
  }

 private:
  void run() noexcept {
    try {
      const c10::WarningUtils::WarningHandlerGuard listening(&warnings_);
      const CpuKernelScope scope(threads_);
      fn_();
    } catch (...) {
      error_ = std::current_exception();
    }
    // Under the lock: once the host has it, this object is gone.
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
    finished_.notify_one();
  }

  c10::function_ref<void()> fn_;
  const int threads_;
  Warnings warnings_;
  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
};

/// Gives `device` the sizes and strides of its alias, and its bytes if those are elsewhere; returns how many those are.
size_t update_one(const at::Tensor& device, const at::Tensor& alias) {
  const bool elsewhere = alias.storage().data() != device.storage().data();
  if (elsewhere) {
    device.resize_(alias.sizes());
  }
  if (device.sizes() != alias.sizes() || device.strides() != alias.strides() ||
      device.storage_offset() != alias.storage_offset()) {
    const auto offset = static_cast<size_t>(alias.storage_offset());
    native::grow_storage(
        device, at::detail::computeStorageNbytes(alias.sizes(), alias.strides(), alias.itemsize(), offset));
    device.unsafeGetTensorImpl()->set_sizes_and_strides(alias.sizes(), alias.strides(), alias.storage_offset());
  }
  if (!elsewhere) {
    return 0;
  }
  device.copy_(alias);
  return alias.nbytes();
}

}  // namespace

bool aliasable() { return native::kernels_reach_memory(); }

at::Tensor HostAliases::alias(const at::Tensor& tensor, bool written) {
  if (!tensor.defined() || !tensor.is_privateuseone()) {
    return tensor;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided && tensor.has_storage(),
      "a CPU kernel can't run on device memory for a tensor of layout ", tensor.layout());
  c10::StorageImpl* device = tensor.storage().unsafeGetStorageImpl();
  // A resize that does not fit takes host memory; update() brings it home.
  const auto over = [&] {
    void* data = written ? device->mutable_data() : const_cast<void*>(device->data());
    return c10::DataPtr(data, c10::Device(c10::DeviceType::CPU));
  };
  c10::Storage storage;
  for (const Pair& known : pairs_) {
    if (known.device.storage().unsafeGetStorageImpl() == device) {
      storage = known.alias.storage();
    }
  }
  if (!storage) {
    storage = c10::Storage(
        c10::Storage::use_byte_size_t(), device->nbytes(), over(), c10::GetCPUAllocator(), /*resizable=*/true);
  } else if (written) {
    storage.set_data_ptr_noswap(over());
  }
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  c10::TensorImpl* impl = result.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    impl->set_wrapped_number(true);
  }
  result._set_conj(tensor.is_conj());
  result._set_neg(tensor.is_neg());
  pairs_.push_back({tensor, result, written});
  return result;
}

c10::IValue HostAliases::alias(const c10::IValue& value, bool written) {
  if (value.isTensor()) {
    return alias(value.toTensor(), written);
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list = value.toTensorList().copy();
    for (size_t i = 0; i < list.size(); ++i) {
      list.set(i, alias(list.get(i), written));
    }
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list = value.toOptionalTensorList().copy();
    for (size_t i = 0; i < list.size(); ++i) {
      const std::optional<at::Tensor> tensor = list.get(i);
      list.set(i, tensor.has_value() ? std::optional(alias(*tensor, written)) : std::nullopt);
    }
    return list;
  }
  if (value.isDevice() && value.toDevice().is_privateuseone()) {
    return c10::Device(c10::DeviceType::CPU);
  }
  return value;
}

size_t HostAliases::update() {
  size_t moved = 0;
  for (const Pair& pair : pairs_) {
    moved += pair.written ? update_one(pair.device, pair.alias) : 0;
  }
  return moved;
}

std::optional<at::Tensor> HostAliases::device_tensor(const at::Tensor& result) const {
  for (const Pair& pair : pairs_) {
    if (result.is_same(pair.alias)) {
      return pair.device;
    }
  }
  for (const Pair& pair : pairs_) {
    if (!result.has_storage() || !result.is_alias_of(pair.alias)) {
      continue;
    }
    const at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW,
        c10::Storage(pair.device.storage()), pair.device.key_set(), result.dtype());
    view.unsafeGetTensorImpl()->set_sizes_and_strides(result.sizes(), result.strides(), result.storage_offset());
    view._set_conj(result.is_conj());
    view._set_neg(result.is_neg());
    return view;
  }
  return std::nullopt;
}

struct CpuKernelScope::State {
  c10::NoGradGuard no_grad;
  at::AutoDispatchBelowADInplaceOrView below_autograd;
};

CpuKernelScope::CpuKernelScope(int threads) : state_(new State) {
  // Setting the number is costly, and most often it is right already.
  if (threads > 0 && at::get_num_threads() != threads) {
    at::set_num_threads(threads);
  }
}

CpuKernelScope::~CpuKernelScope() { delete state_; }

void run_on_worker(c10::function_ref<void()> fn) {
  Errand errand(fn, at::get_num_threads());
  OPENREG_CHECK(orLaunchKernel(getCurrentStream().stream(), &Errand::run, &errand));
  errand.wait();
  errand.report();
}

void queue_on_worker(std::function<void()> fn) {
  struct Task {
    std::function<void()> fn;
    int threads;
  };
  auto task = std::make_unique<Task>(Task{std::move(fn), at::get_num_threads()});
  const auto run = [](void* argument) {
    const std::unique_ptr<Task> owned(static_cast<Task*>(argument));
    const CpuKernelScope scope(owned->threads);
    owned->fn();
  };
  OPENREG_CHECK(orLaunchKernel(getCurrentStream().stream(), run, task.get()));
  static_cast<void>(task.release());
}

}  // namespace openreg
