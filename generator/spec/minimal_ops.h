// The operators that every backend registers, so that a spec needs not: their kernels are part of the rendered tree.
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

/// Sorted: operators that PyTorch decomposes where a device has no kernel, but not into what the CPU's kernel does.
/// Where backends fall back they do so for these, too, unless the spec says how to compute them.
std::span<const std::string_view> decomposed_otherwise();
bool is_decomposed_otherwise(std::string_view op);

}  // namespace openreg_gen
