// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `custom_ops` in the spec changes it, then `openreg-gen generate`.
#include "aten/native/ElementwiseMeta.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <ATen/ExpandUtils.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/empty_strided.h>

#include "aten/native/DeviceLoop.h"

namespace openreg::native {
namespace {

bool equal(const c10::SymInt& a, const c10::SymInt& b) {
  return TORCH_GUARD_OR_FALSE(a.sym_eq(b));
}
bool less(const c10::SymInt& a, const c10::SymInt& b) {
  return TORCH_GUARD_OR_FALSE(a.sym_lt(b));
}

/// The sizes and strides of a tensor as TensorIterator sees them: of the result's rank, 0 where it is broadcast.
c10::SymDimVector broadcast_strides(const at::Tensor& tensor, const c10::SymDimVector& shape) {
  const auto sizes = tensor.sym_sizes();
  const auto strides = tensor.sym_strides();
  const size_t missing = shape.size() - sizes.size();
  c10::SymDimVector out(shape.size(), 0);
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    const bool broadcast = equal(sizes[dim], 1) && !equal(shape[missing + dim], 1);
    out[missing + dim] = broadcast ? c10::SymInt(0) : strides[dim];
  }
  return out;
}

/// Whether dimension `a` goes inside of `b`, by the first input that has an opinion: 1 yes, -1 no, 0 none has.
int order(const std::vector<c10::SymDimVector>& strides, const c10::SymDimVector& shape, size_t a, size_t b) {
  for (const c10::SymDimVector& of_input : strides) {
    if (equal(of_input[a], 0) || equal(of_input[b], 0)) {
      continue;
    }
    if (!equal(of_input[a], of_input[b])) {
      return less(of_input[a], of_input[b]) ? 1 : -1;
    }
    if (less(shape[b], shape[a])) {
      return -1;
    }
  }
  return 0;
}

c10::SymDimVector result_strides(at::ArrayRef<at::Tensor> inputs, const c10::SymDimVector& shape) {
  std::vector<c10::SymDimVector> strides;
  bool contiguous = true;
  for (const at::Tensor& input : inputs) {
    strides.push_back(broadcast_strides(input, shape));
    const auto sizes = input.sym_sizes();
    contiguous = contiguous && std::equal(sizes.begin(), sizes.end(), shape.begin(), shape.end(), equal) &&
        input.is_contiguous_or_false();
  }
  // Dimensions from the innermost one on, sorted by insertion, since the order is not a total one.
  std::vector<size_t> dims(shape.size());
  std::iota(dims.rbegin(), dims.rend(), size_t{0});
  for (size_t i = 1; i < dims.size() && !contiguous; ++i) {
    size_t moving = i;
    for (size_t other = i; other-- > 0;) {
      const int swap = order(strides, shape, dims[other], dims[moving]);
      if (swap == -1) {
        std::swap(dims[other], dims[moving]);
        moving = other;
      } else if (swap == 1) {
        break;
      }
    }
  }
  c10::SymDimVector out(shape.size(), 1);
  c10::SymInt next = 1;
  for (const size_t dim : dims) {
    out[dim] = next;
    next = next * shape[dim];
  }
  return out;
}

}  // namespace

at::Tensor elementwise_meta(at::ArrayRef<at::Tensor> inputs) {
  const auto symbolic = [](const at::Tensor& tensor) {
    return tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
  };
  if (std::none_of(inputs.begin(), inputs.end(), symbolic)) {
    return elementwise_iterator({}, inputs, /*floating=*/false).output();
  }
  c10::SymDimVector shape(inputs[0].sym_sizes());
  at::native::ResultTypeState types;
  for (const at::Tensor& input : inputs) {
    shape = at::infer_size_symdimvector(shape, input.sym_sizes());
    types = at::native::update_result_type_state(input, types);
  }
  const auto options = at::TensorOptions(at::kMeta).dtype(at::native::result_type(types));
  return at::empty_strided_symint(shape, result_strides(inputs, shape), options);
}

}  // namespace openreg::native
