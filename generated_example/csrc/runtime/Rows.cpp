// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Rows.h"

#include <algorithm>
#include <utility>

#include <c10/util/SmallVector.h>

#include "runtime/Exception.h"

namespace openreg {

size_t Rows::calls() const {
  size_t calls = 1;
  for (const int64_t size : outer) {
    calls *= static_cast<size_t>(size);
  }
  return calls;
}

Rows rows_of(at::IntArrayRef sizes, const std::array<at::IntArrayRef, 2>& strides, size_t itemsize) {
  struct Dim {
    std::array<int64_t, 2> stride;
    int64_t size;
    bool continues(const std::array<int64_t, 2>& reached) const { return stride == reached; }
  };
  c10::SmallVector<Dim, 5> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Dim dim{{strides[0][i], strides[1][i]}, sizes[i]};
    // An element that is written at one place several times is the same one each time.
    if (dim.size != 1 && dim.stride[0] != 0) {
      dims.push_back(dim);
    }
  }
  std::ranges::sort(dims, {}, &Dim::stride);
  // Joins dimensions of which the slower one continues the faster one, in both places.
  Rows rows;
  auto width = static_cast<int64_t>(itemsize);
  c10::SmallVector<Dim, 5> joined;
  for (const Dim& dim : dims) {
    if (joined.empty() && dim.continues({width, width})) {
      width *= dim.size;
    } else if (!joined.empty() && dim.continues({joined.back().stride[0] * joined.back().size, joined.back().stride[1] * joined.back().size})) {
      joined.back().size *= dim.size;
    } else {
      joined.push_back(dim);
    }
  }
  rows.width = static_cast<size_t>(width);
  rows.pitch = {rows.width, rows.width};
  // The longest dimension becomes the rows; those of the driver neither overlap nor repeat.
  auto longest = joined.end();
  for (auto dim = joined.begin(); dim != joined.end(); ++dim) {
    if (dim->stride[0] >= width && dim->stride[1] >= width && (longest == joined.end() || dim->size > longest->size)) {
      longest = dim;
    }
  }
  for (auto dim = joined.begin(); dim != joined.end(); ++dim) {
    if (dim == longest) {
      rows.height = static_cast<size_t>(dim->size);
      rows.pitch = {static_cast<size_t>(dim->stride[0]), static_cast<size_t>(dim->stride[1])};
    } else {
      rows.outer.push_back(dim->size);
      rows.outer_strides[0].push_back(dim->stride[0]);
      rows.outer_strides[1].push_back(dim->stride[1]);
    }
  }
  return rows;
}

namespace {

/// The copies of the outer dimensions from `dim` on.
void copy_from(size_t dim, const Rows& rows, char* to, const char* from, orMemcpyKind kind, orStream_t stream) {
  if (dim < rows.outer.size()) {
    for (int64_t i = 0; i < rows.outer[dim]; ++i) {
      copy_from(dim + 1, rows, to + i * rows.outer_strides[0][dim], from + i * rows.outer_strides[1][dim], kind, stream);
    }
  } else if (rows.height == 1) {
    OPENREG_CHECK_LAUNCH(orMemcpyAsync(to, from, rows.width, kind, stream));
  } else {
    OPENREG_CHECK_LAUNCH(
        orMemcpy2DAsync(to, rows.pitch[0], from, rows.pitch[1], rows.width, rows.height, kind, stream));
  }
}

}  // namespace

void copy_rows(const Rows& rows, void* destination, const void* source, orMemcpyKind kind, const OpenRegStream& stream) {
  copy_from(0, rows, static_cast<char*>(destination), static_cast<const char*>(source), kind, stream.stream());
}

}  // namespace openreg
