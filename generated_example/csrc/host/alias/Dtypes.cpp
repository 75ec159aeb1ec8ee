// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/alias/Dtypes.h"

#include <algorithm>
#include <cstring>

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <c10/util/SmallVector.h>

namespace openreg::native::detail {

bool AcceptedCalls::has(const CallKind& kind) const {
  const CallKind* const last = last_.load(std::memory_order_acquire);
  if (last != nullptr && *last == kind) {
    return true;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::find(all_.begin(), all_.end(), kind) != all_.end();
}

void AcceptedCalls::add(const CallKind& kind) {
  if (kind.complete()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_.store(&all_.emplace_back(kind), std::memory_order_release);
  }
}

void add_dtypes(CallKind& kind, const at::TensorIteratorBase& iter) {
  kind.add(static_cast<uint8_t>(iter.ntensors()));
  kind.add(iter.maybe_common_dtype().value_or(at::ScalarType::Undefined));
  for (int i = 0; i < iter.ntensors(); ++i) {
    kind.add(iter.dtype(i));
  }
}

bool overlap(c10::ArrayRef<const at::TensorBase*> tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::TensorBase& one = *tensors[i];
    if (!one.defined() || one.numel() == 0) {
      continue;
    }
    if (at::has_internal_overlap(one) == at::MemOverlap::Yes) {
      return true;
    }
    for (const at::TensorBase* other : tensors.slice(i + 1)) {
      if (!other->defined() || one.unsafeGetTensorImpl() == other->unsafeGetTensorImpl()) {
        continue;
      }
      const at::MemOverlapStatus status = at::get_overlap_status(one, *other);
      if (status == at::MemOverlapStatus::Partial || status == at::MemOverlapStatus::TooHard) {
        return true;
      }
    }
  }
  return false;
}

at::TensorIterator iterator_over_nothing(at::TensorIteratorBase& like, bool promotes) {
  const at::ScalarType common =
      promotes ? like.maybe_common_dtype().value_or(at::ScalarType::Undefined) : at::ScalarType::Undefined;
  bool reduction = false;
  for (int i = 0; i < like.noutputs(); ++i) {
    const auto strides = like.strides(i);
    const auto shape = like.shape();
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      reduction = reduction || (strides[dim] == 0 && shape[dim] != 1);
    }
  }
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false).resize_outputs(false).is_reduction(reduction);
  for (int i = 0; i < like.ntensors(); ++i) {
    const bool output = i < like.noutputs();
    const at::ScalarType own = like.dtype(i);
    const bool as_it_is = common == at::ScalarType::Undefined || (output && own == at::kBool);
    const at::Tensor operand = at::empty({reduction ? 1 : 0}, at::device(at::kCPU).dtype(as_it_is ? own : common));
    std::memset(operand.mutable_data_ptr(), 0, operand.nbytes());
    if (output) {
      config.add_owned_output(operand);
    } else {
      config.add_owned_const_input(operand);
    }
  }
  return config.build();
}

}  // namespace openreg::native::detail
