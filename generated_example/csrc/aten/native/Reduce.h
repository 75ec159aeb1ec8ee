// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <ATen/OpMathType.h>
#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "aten/native/DeviceLoop.h"

// Note [Reductions]
// A reduction folds all elements along some dimensions into one value: map(element) first, then combine(a, b), and
// finish(value, count) at the end. reduce_kernel() runs one over any strides, in stream order. Two loops serve all
// layouts, both vectorised by the compiler for any combine that is associative and commutative:
//   rows     the elements of one result are adjacent: kLanes partial results at once
//   columns  the elements of neighbouring results are adjacent: a block of results at once
// Long rows are folded in pieces of kPiece elements, which keeps the rounding error of a sum small. Only the first element is
// combined with `init`, not partial results: a complex infinity times one is NaN.

namespace openreg::native {

/// Dimensions split in kept and reduced, neighbours merged, the slowest first. Strides are bytes.
struct ReducePlan {
  ReducePlan(const at::Tensor& out, const at::Tensor& self, at::IntArrayRef dims);
  at::DimVector kept, kept_in, kept_out;
  at::DimVector reduced, reduced_in;
  int64_t count = 1;  // elements a result is made of
  int64_t results = 1;
  Operand input, output;
  /// Where the results lie, or values of `itemsize` bytes beside results of 8.
  Layout output_layout(size_t itemsize, size_t result_size = 0) const;
};

namespace detail {

constexpr int64_t kLanes = 16;
constexpr int64_t kPiece = 4096;
constexpr int64_t kColumns = 256;

/// Calls fn(in, out) for each index of `sizes`, with the pointers at its element.
template <class Fn>
void for_each_index(at::IntArrayRef sizes, at::IntArrayRef in_strides, at::IntArrayRef out_strides, const char* in,
    char* out, const Fn& fn) {
  if (sizes.empty()) {
    fn(in, out);
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i) {
    for_each_index(sizes.slice(1), in_strides.slice(1), out_strides.slice(out_strides.empty() ? 0 : 1),
        in + i * in_strides[0], out_strides.empty() ? out : out + i * out_strides[0], fn);
  }
}

template <class scalar_t, class acc_t, class Map, class Combine>
acc_t fold_row(const char* in, int64_t stride, int64_t n, acc_t init, const Map& map, const Combine& combine) {
  acc_t total = init;
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t end = std::min(n, begin + kPiece);
    acc_t piece = init;
    int64_t i = begin;
    if (stride == static_cast<int64_t>(sizeof(scalar_t)) && end - begin >= 2 * kLanes) {
      const auto* row = reinterpret_cast<const scalar_t*>(in);
      std::array<acc_t, kLanes> lanes;
      lanes.fill(init);
      for (; i + kLanes <= end; i += kLanes) {
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          const auto at = static_cast<size_t>(lane);
          lanes[at] = static_cast<acc_t>(combine(lanes[at], static_cast<acc_t>(map(static_cast<acc_t>(row[i + lane])))));
        }
      }
      piece = lanes[0];
      for (size_t lane = 1; lane < lanes.size(); ++lane) {
        piece = static_cast<acc_t>(combine(piece, lanes[lane]));
      }
    }
    for (; i < end; ++i) {
      const scalar_t value = *reinterpret_cast<const scalar_t*>(in + i * stride);
      piece = static_cast<acc_t>(combine(piece, static_cast<acc_t>(map(static_cast<acc_t>(value)))));
    }
    total = begin == 0 ? piece : static_cast<acc_t>(combine(total, piece));
  }
  return total;
}

template <class scalar_t, class acc_t, class Map, class Combine, class Finish>
void reduce_columns(const ReducePlan& plan, const char* in, char* out, int64_t n, int64_t out_stride, acc_t init,
    const Map& map, const Combine& combine, const Finish& finish) {
  std::array<acc_t, kColumns> block;
  for (int64_t begin = 0; begin < n; begin += kColumns) {
    const int64_t width = std::min(kColumns, n - begin);
    block.fill(init);
    for_each_index(plan.reduced, plan.reduced_in, {}, in, nullptr, [&](const char* row, char*) {
      const auto* values = reinterpret_cast<const scalar_t*>(row) + begin;
      for (int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<size_t>(i);
        block[at] = static_cast<acc_t>(combine(block[at], static_cast<acc_t>(map(static_cast<acc_t>(values[i])))));
      }
    });
    for (int64_t i = 0; i < width; ++i) {
      *reinterpret_cast<scalar_t*>(out + (begin + i) * out_stride) =
          static_cast<scalar_t>(finish(block[static_cast<size_t>(i)]));
    }
  }
}

}  // namespace detail

/// `self` as the elements of a reduction to `out`: in its dtype, so that integers are summed as int64.
at::Tensor reduction_input(const at::Tensor& self, const at::Tensor& out);

/// `self` as the elements that a pick looks at: without `dim` all in one row, in their order.
at::Tensor pick_input(const at::Tensor& self, std::optional<int64_t> dim);

/// Where a pick writes its values: beside the places, so that one walk serves both; undefined if `values` is.
at::Tensor pick_values(const at::Tensor& values, const at::Tensor& places);

/// out = finish(fold of map(self) along `dims` (none: all)). scalar_t is the dtype of both; `out` has its final sizes,
/// with or without the reduced dimensions. `init` is the value of no elements, and neutral to `combine`.
template <class scalar_t, class Map, class Combine, class Finish>
void reduce_kernel(const at::Tensor& out, const at::Tensor& self, at::IntArrayRef dims, compute_t<scalar_t> init,
    Map map, Combine combine, Finish finish) {
  using acc_t = compute_t<scalar_t>;
  if (out.numel() == 0) {
    return;
  }
  ReducePlan plan(out, self, dims);
  const Layout layout = plan.output_layout(sizeof(scalar_t));
  std::array<Operand, 2> operands{plan.output, plan.input};
  operands[0].layout = &layout;
  launch(operands, [plan = std::move(plan), init, map, combine, finish](char** pointers) {
    const auto end = [&](acc_t value) { return finish(value, static_cast<acc_t>(plan.count)); };
    constexpr auto size = static_cast<int64_t>(sizeof(scalar_t));
    const at::IntArrayRef kept = plan.kept;
    const bool columns = !kept.empty() && plan.kept_in.back() == size &&
        (plan.reduced_in.empty() || plan.reduced_in.back() != size);
    if (columns) {
      detail::for_each_index(kept.slice(0, kept.size() - 1), plan.kept_in, plan.kept_out, pointers[1], pointers[0],
          [&](const char* in, char* result) {
            detail::reduce_columns<scalar_t, acc_t>(
                plan, in, result, kept.back(), plan.kept_out.back(), init, map, combine, end);
          });
      return;
    }
    const at::IntArrayRef reduced = plan.reduced;
    const int64_t n = reduced.empty() ? 1 : reduced.back();
    const int64_t stride = reduced.empty() ? size : plan.reduced_in.back();
    detail::for_each_index(
        kept, plan.kept_in, plan.kept_out, pointers[1], pointers[0], [&](const char* in, char* result) {
          acc_t total = init;
          bool first = true;
          detail::for_each_index(reduced.slice(0, reduced.empty() ? 0 : reduced.size() - 1), plan.reduced_in, {}, in,
              nullptr, [&](const char* row, char*) {
                const acc_t folded = detail::fold_row<scalar_t, acc_t>(row, stride, n, init, map, combine);
                total = first ? folded : static_cast<acc_t>(combine(total, folded));
                first = false;
              });
          *reinterpret_cast<scalar_t*>(result) = static_cast<scalar_t>(end(total));
        });
  });
}

}  // namespace openreg::native
