// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>
#include <c10/core/Storage.h>
#include <c10/util/FunctionRef.h>

#include "runtime/Export.h"

// Note [The tensors of a call, there and back]
// Much of a backend begins as code for the host: operators that fall back to PyTorch's CPU kernels, and kernels that call them.
// Such a call gets CPU tensors over copies of the device's memory: the current stream copies the bytes that the arguments reach
// over to the host, the caller waits, the code runs on the calling thread, and the current stream copies back what it wrote. Any
// device that can allocate and copy supports that. at::native::cpu_fallback copies each tensor by itself; here tensors that share
// memory share the copy, a tensor that is passed twice is one tensor, and all keep their strides, conjugation and negation. So the
// CPU's kernel returns, resizes and refuses what it would for tensors of its own. On the way back an argument is still the same
// tensor, a view of one is a view of device memory, and a new tensor is moved with its whole storage.

namespace openreg {

/// The state of a thread in which CPU kernels may run: no autograd, and as many threads as `threads` (0: as it is), since
/// those settings belong to a thread.
class OPENREG_RUNTIME_API CpuKernelScope {
 public:
  explicit CpuKernelScope(int threads = 0);

 private:
  c10::NoGradGuard no_grad_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
};

/// The tensors of one call of an operator as the host's. Use: add() all arguments, fetch(), on_host() each, run(), update(),
/// on_device() each result. Must not live longer than the call, nor die on a stream's thread. The device of the tensors is the
/// current one. Used by one thread. Errors: those of the device's API.
class OPENREG_RUNTIME_API HostTensors {
 public:
  HostTensors() = default;
  virtual ~HostTensors() = default;
  HostTensors(const HostTensors&) = delete;
  HostTensors& operator=(const HostTensors&) = delete;

  /// Tensors of the device in `value` (a tensor, an optional, a list of either); ignores everything else. `written`: the
  /// function may write them; a copy-on-write storage is then copied. `read` false: it writes every element, whatever
  /// was there.
  void add(const c10::IValue& value, bool written, bool read = true);
  void add(const at::Tensor& tensor, bool written, bool read = true);

  void fetch();

  /// What stands for an argument on the host; what is not of the device stays, and a device becomes the CPU.
  c10::IValue on_host(const c10::IValue& value) const;
  at::Tensor on_host(const at::Tensor& tensor) const;

  /// Whether the tensors are copies; if not, they are the device's own bytes.
  virtual bool copies() const { return true; }

  /// Runs `fn`, in a CpuKernelScope, where it may use the tensors, and waits for it. Errors: those of `fn`.
  virtual void run(c10::function_ref<void()> fn);

  /// After the function ran: gives what it wrote to the device, and to tensors that it resized their new sizes and strides,
  /// in a larger storage where they need one.
  void update();

  /// What a result stands for on the current device. After update().
  c10::IValue on_device(const c10::IValue& result);
  at::Tensor on_device(const at::Tensor& result);

  uint64_t bytes_to_host() const { return to_host_; }
  uint64_t bytes_to_device() const { return to_device_; }

 protected:
  /// Bytes of a storage of the device that tensors of the call reach over.
  struct Range {
    c10::Storage device;
    int64_t begin, end;
    bool read, written;
  };
  /// A storage of the host that stands for the bytes from `range.begin` on.
  virtual c10::Storage reach(const Range& range);

 private:
  struct Memory {
    Range range;
    c10::Storage host;
    const void* data = nullptr;  // of `host`, before the function may have resized it
  };
  struct TensorCopy {
    at::Tensor device, host;
    bool written, read;
    size_t memory = 0;  // an index
  };
  /// The storage of the device that one of the host stands for, from a byte on.
  struct Home {
    c10::Storage device;
    int64_t begin = 0;
  };
  void update(const TensorCopy& known);

  std::vector<TensorCopy> known_;
  std::vector<Memory> memory_;
  std::unordered_map<const c10::TensorImpl*, size_t> by_device_, by_host_;  // indices into known_
  std::unordered_map<const c10::StorageImpl*, Home> homes_;
  uint64_t to_host_ = 0;
  uint64_t to_device_ = 0;
};

/// The tensors of a call on the current device. Components that have another way to its memory than copies put a function of
/// their own here while the library is loaded.
using MakeHostTensors = std::unique_ptr<HostTensors>();
extern MakeHostTensors* host_tensors;

/// Whether a tensor is more than memory with sizes and strides: sparse, nested or quantized.
bool is_compound(const at::Tensor& tensor);

/// HostTensors::on_device() of a result that is_compound(). Null, unless a component puts a function here.
using CompoundOnDevice = at::Tensor(HostTensors& tensors, const at::Tensor& result);
extern CompoundOnDevice* compound_on_device;

/// The value with fn(tensor) in the place of each tensor in it.
template <class Fn>
c10::IValue mapped(const c10::IValue& value, Fn fn) {
  if (value.isTensor()) {
    return fn(value.toTensor());
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list = value.toTensorList().copy();
    for (size_t i = 0; i < list.size(); ++i) {
      list.set(i, fn(list.get(i)));
    }
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list = value.toOptionalTensorList().copy();
    for (size_t i = 0; i < list.size(); ++i) {
      const std::optional<at::Tensor> tensor = list.get(i);
      list.set(i, tensor.has_value() ? std::optional(fn(*tensor)) : std::nullopt);
    }
    return list;
  }
  return value;
}

/// Calls fn(tensor) for each tensor in a value that is defined.
template <class Fn>
void each_tensor(const c10::IValue& value, Fn fn) {
  mapped(value, [&fn](const at::Tensor& tensor) {
    if (tensor.defined()) {
      fn(tensor);
    }
    return tensor;
  });
}

}  // namespace openreg
