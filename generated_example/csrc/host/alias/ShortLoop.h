// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <ATen/TensorIterator.h>

namespace openreg::native {

/// The operands of a short loop: few tensors of the device, and no more dimensions than the loop itself takes.
struct ShortLoop {
  static constexpr size_t kOperands = 4;
  /// False if `iter` is more than that.
  bool take(const at::TensorIteratorBase& iter);

  std::array<char*, kOperands> data{};
  std::array<int64_t, 2 * kOperands> strides{};
  int64_t n0 = 1;
  int64_t n1 = 1;
};

}  // namespace openreg::native
