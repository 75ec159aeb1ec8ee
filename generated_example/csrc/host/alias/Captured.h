// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

// Note [CPU kernels in a graph]
// A CPU kernel that stands in for one of the device is usually waited for: only then are its results known. While a stream is
// captured nothing runs, so PyTorch's meta kernels, which compute sizes and dtypes alone, say what the results will be. They are
// allocated, and the CPU's kernel becomes a node of the graph: a replay calls it on the device's bytes and copies what it
// returns to the results. Random operators get a generator of the replay.
// What has no such results (sizes or numbers that depend on values) can't be captured, nor can a device be that needs copies for
// code of the host: there the call throws, as a wait does.

namespace openreg {

/// Records the CPU's kernel of `op` into the graph that the current stream is captured into, and puts its results in the place
/// of the arguments. `draws`: how many numbers it takes from its generator at most, 0 for none. Throws c10::AcceleratorError if it
/// can't be captured. The current device's kernels must reach its memory.
void capture_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack, uint64_t draws);

}  // namespace openreg
