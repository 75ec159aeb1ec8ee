// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "aten/native/Reduce.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty_strided.h>

namespace openreg::native {
namespace {

struct Dim {
  int64_t size, in, out;
};

/// The slowest first; a dimension that continues the next one becomes one with it.
void merge(std::vector<Dim>& dims) {
  std::stable_sort(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) { return a.in > b.in; });
  std::vector<Dim> merged;
  for (const Dim& dim : dims) {
    if (dim.size == 1) {
      continue;
    }
    if (!merged.empty() && merged.back().in == dim.in * dim.size && merged.back().out == dim.out * dim.size) {
      merged.back() = {merged.back().size * dim.size, dim.in, dim.out};
    } else {
      merged.push_back(dim);
    }
  }
  dims = std::move(merged);
}

size_t span(const at::Tensor& tensor) {
  size_t last = 0;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.size(dim) == 0) {
      return 0;
    }
    last += static_cast<size_t>((tensor.size(dim) - 1) * tensor.stride(dim));
  }
  return (last + 1) * tensor.itemsize();
}

}  // namespace

ReducePlan::ReducePlan(const at::Tensor& out, const at::Tensor& self, at::IntArrayRef dims)
    : input{const_cast<void*>(self.const_data_ptr()), span(self), false, nullptr},
      output{out.mutable_data_ptr(), span(out), true, nullptr} {
  at::assert_no_internal_overlap(out);
  std::vector<bool> folds(static_cast<size_t>(self.dim()), dims.empty());
  for (const int64_t dim : dims) {
    if (self.dim() > 0) {
      folds[static_cast<size_t>(at::maybe_wrap_dim(dim, self.dim()))] = true;
    }
  }
  const bool keeps = out.dim() == self.dim();
  const auto in_size = static_cast<int64_t>(self.itemsize());
  const auto out_size = static_cast<int64_t>(out.itemsize());
  std::vector<Dim> kept_dims, reduced_dims;
  int64_t out_dim = 0;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    const bool fold = folds[static_cast<size_t>(dim)];
    if (fold) {
      reduced_dims.push_back({self.size(dim), self.stride(dim) * in_size, 0});
      count *= self.size(dim);
    } else {
      kept_dims.push_back({self.size(dim), self.stride(dim) * in_size, out.stride(out_dim) * out_size});
      results *= self.size(dim);
    }
    out_dim += keeps || !fold ? 1 : 0;
  }
  merge(kept_dims);
  for (Dim& dim : reduced_dims) {
    dim.out = dim.in;  // nothing else keeps two from being merged
  }
  merge(reduced_dims);
  for (const Dim& dim : kept_dims) {
    kept.push_back(dim.size);
    kept_in.push_back(dim.in);
    kept_out.push_back(dim.out);
  }
  for (const Dim& dim : reduced_dims) {
    reduced.push_back(dim.size);
    reduced_in.push_back(dim.in);
  }
}

Layout ReducePlan::output_layout(size_t itemsize, size_t result_size) const {
  Layout layout{kept, kept_out, itemsize};
  for (int64_t& stride : layout.strides) {
    stride = result_size == 0 ? stride : stride / static_cast<int64_t>(result_size) * static_cast<int64_t>(itemsize);
  }
  return layout;
}

at::Tensor reduction_input(const at::Tensor& self, const at::Tensor& out) {
  return self.to(out.scalar_type()).resolve_conj().resolve_neg();
}

at::Tensor pick_input(const at::Tensor& self, std::optional<int64_t> dim) {
  const at::Tensor input = self.resolve_conj().resolve_neg();
  return dim.has_value() ? input : input.reshape(-1);
}

at::Tensor pick_values(const at::Tensor& values, const at::Tensor& places) {
  if (!values.defined() || values.strides() == places.strides()) {
    return values;
  }
  return at::empty_strided(places.sizes(), places.strides(), values.options());
}

}  // namespace openreg::native
