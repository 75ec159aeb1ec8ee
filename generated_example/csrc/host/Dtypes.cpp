// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "host/Dtypes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>

#include <ATen/Dispatch_v2.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <c10/util/SmallVector.h>

namespace openreg::native::detail {

bool TakenDtypes::has(uint64_t dtypes) const {
  if (last_.load(std::memory_order_relaxed) == dtypes) {
    return true;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::find(all_.begin(), all_.end(), dtypes) != all_.end();
}

void TakenDtypes::add(uint64_t dtypes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  all_.push_back(dtypes);
  last_.store(dtypes, std::memory_order_relaxed);
}

bool fits(const c10::Scalar& number, at::ScalarType dtype) {
  if (dtype == at::ScalarType::Undefined || number.isSymbolic()) {
    return true;
  }
  if (number.isBoolean() || (number.isIntegral(false) && std::abs(number.toLong()) <= 127)) {
    return true;  // each dtype holds it, or wraps it around
  }
  if (number.isFloatingPoint() && std::abs(number.toDouble()) <= 127) {
    return true;
  }
  try {
    AT_DISPATCH_V2(dtype, "fits", AT_WRAP([&] { static_cast<void>(number.to<scalar_t>()); }), AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX),
        AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), at::kComplexHalf, at::kHalf, at::kBFloat16, at::kBool);
  } catch (const std::exception&) {  // an overflow is no c10::Error
    return false;
  }
  return true;
}

uint64_t dtypes_of(const at::TensorIteratorBase& iter) {
  constexpr int kFit = 7;
  if (iter.ntensors() == 0 || iter.ntensors() > kFit) {
    return 0;
  }
  // A byte each, and never 0: kByte is.
  uint64_t out = static_cast<uint8_t>(iter.maybe_common_dtype().value_or(at::ScalarType::Undefined)) + 1U;
  for (int i = 0; i < iter.ntensors(); ++i) {
    out = out << 8 | (static_cast<uint8_t>(iter.dtype(i)) + 1U);
  }
  return out;
}

uint64_t dtypes_of(c10::ArrayRef<const at::TensorBase*> tensors) {
  uint64_t out = tensors.size() + 1;
  for (const at::TensorBase* tensor : tensors) {
    out = out * 131 + (tensor->defined() ? static_cast<uint8_t>(tensor->scalar_type()) + 1U : 0U);
  }
  return out;
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
