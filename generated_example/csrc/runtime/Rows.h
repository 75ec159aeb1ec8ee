// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <array>
#include <cstddef>

#include <ATen/DimVector.h>
#include <c10/util/ArrayRef.h>

#include "runtime/Export.h"
#include "runtime/Stream.h"

// Note [Copies of rows]
// The device's driver copies bytes: one run of them, or rows at equal distances (orMemcpy2DAsync). Elements of
// a slice, a transpose or a column are described as such rows, so that a strided copy takes one or a few calls instead of
// one per element, and the host never waits for it. Used by copies within the device and when host code writes back.

namespace openreg {

/// Bytes in two places at once, source and destination: runs of `width` bytes, `height` of them at the distances `pitch`, and
/// all that again for each index of the `outer` dimensions. Distances are bytes; the destination comes first.
struct Rows {
  size_t width = 0;
  size_t height = 1;
  std::array<size_t, 2> pitch{};
  at::DimVector outer;
  std::array<at::DimVector, 2> outer_strides;

  /// How many calls of the driver a copy takes.
  size_t calls() const;
  size_t bytes() const { return width * height * calls(); }
};

/// The rows of elements of `itemsize` bytes, of which `strides` says how many bytes they lie apart, per dimension and place.
/// Strides aren't negative.
OPENREG_RUNTIME_API Rows rows_of(at::IntArrayRef sizes, const std::array<at::IntArrayRef, 2>& strides, size_t itemsize);

/// Queues the copy on `stream`, a stream of the current device. Errors: those of the device's API.
OPENREG_RUNTIME_API void copy_rows(
    const Rows& rows, void* destination, const void* source, orMemcpyKind kind, const OpenRegStream& stream);

}  // namespace openreg
