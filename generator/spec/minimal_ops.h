// The operators that every backend registers, so that a spec needs not: their kernels are part of the rendered tree.
#pragma once

#include <span>
#include <string_view>

namespace openreg_gen {

/// Sorted. The function that serves `set_.source_Tensor` is set__source_Tensor of csrc/aten/native/Kernels.h.
std::span<const std::string_view> minimal_op_names();
bool is_minimal_op(std::string_view op);

}  // namespace openreg_gen
