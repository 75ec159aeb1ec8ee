// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Storage.h>
#include <c10/util/FunctionRef.h>

#include "host/Memory.h"
#include "runtime/Export.h"

// Note [The tensors of a call, there and back]
// An operator's tensors become CPU tensors over HostMemory with the same layout: tensors of one storage share one (with copies,
// only if they overlap), and a tensor that is passed twice is one tensor. So the CPU's checks work as usual: outputs that
// overlap inputs, an in-place operator's self among its inputs. On the way back an argument is still the same
// tensor, with the sizes and strides that the function gave it, a view of an argument is a view of device memory, and a
// new tensor is moved with its whole storage, so that results that share memory still do.

namespace openreg {

/// The tensors of one call of an operator as the host's. Use: add() all arguments, fetch(), on_host() each, run(), update(),
/// on_device() each result. Keeps the device tensors alive; must not live longer than the call, nor die on a
/// stream's thread. The device of the tensors is the current one. Used by one thread. Errors: those of the device's API, and
/// c10::NotImplementedError for tensors that are not strided.
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

  /// What stands for an argument on the host; what is not of the device stays, and a device becomes the CPU. A copy must not
  /// outlive this object.
  c10::IValue on_host(const c10::IValue& value);
  at::Tensor on_host(const at::Tensor& tensor);

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

  uint64_t bytes_to_host() const { return memory_.bytes_to_host(); }
  uint64_t bytes_to_device() const { return memory_.bytes_to_device() + moved_bytes_; }

 protected:
  /// Memory of the host that tensors share: `host`, of so many bytes, stands for that from `begin` on. `key` tells it from others.
  struct Place {
    const void* key;
    const char* begin;
    size_t bytes;
    char* host;
  };
  /// Makes the memory of all tensors the host's.
  virtual void reach();
  virtual Place place_of(const at::Tensor& tensor) const;

 private:
  /// A storage of the host over device memory, or over a copy of it.
  struct Home {
    c10::Storage host;
    c10::Storage device;
    const void* data;  // of `host`, until the function resized it
    int64_t shift;  // bytes from the beginning of `device` to that of `host`
  };
  struct TensorCopy {
    at::Tensor device;
    at::Tensor host;
    bool written;
    bool read;
    size_t home;
  };

  void join_written();
  size_t home_of(const at::Tensor& tensor);
  void make(TensorCopy& known);
  void update(const TensorCopy& known);
  at::Tensor view_on_device(const at::Tensor& result, const c10::Storage& storage, int64_t shift) const;

  native::HostMemory memory_;
  std::vector<TensorCopy> known_;
  std::vector<Home> homes_;
  std::unordered_map<const c10::TensorImpl*, size_t> by_device_, by_host_;  // indices into known_
  std::unordered_map<const void*, size_t> home_by_key_;  // a device's storage, or a span
  std::unordered_map<const c10::StorageImpl*, size_t> home_by_host_;
  std::unordered_map<const c10::StorageImpl*, std::pair<c10::Storage, c10::Storage>> moved_;  // of results: host, device
  uint64_t moved_bytes_ = 0;
};

/// The tensors of a call on the current device. Components that have another way to its memory than copies put a function of
/// their own here while the library is loaded.
using MakeHostTensors = std::unique_ptr<HostTensors>();
extern MakeHostTensors* host_tensors;

/// HostTensors::on_device() of a result that is_compound(). Null, unless component compound puts a function here.
using CompoundOnDevice = at::Tensor(HostTensors& tensors, const at::Tensor& result);
extern CompoundOnDevice* compound_on_device;

}  // namespace openreg
