// The operators that every backend registers, so a spec doesn't have to: their kernels are part of the rendered tree.
#pragma once

#include "spec/component.h"

#include <span>
#include <string_view>

namespace openreg_gen {

/// Sorted. The function that serves `set_.source_Tensor` is set__source_Tensor of csrc/aten/native/Kernels.h.
std::span<const std::string_view> minimal_op_names();
bool is_minimal_op(std::string_view op);
/// Those of a tree with these components: kernels of modules (convolutions, normalization, attention) come with the
/// component `loops`, recurrent cells with `recurrent`.
bool is_minimal_op(std::string_view op, const ComponentSet& components);

/// Sorted: operators whose decomposition in PyTorch differs from the CPU's kernel. Backends with a fallback use it for
/// these too, unless the spec says how to compute them.
std::span<const std::string_view> decomposed_otherwise();
bool is_decomposed_otherwise(std::string_view op);

}  // namespace openreg_gen
