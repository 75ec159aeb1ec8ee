// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

// Note [CPU kernels in a graph]
// The caller usually waits for a CPU kernel that replaces a device kernel: only then are its results known. During a capture
// nothing runs, so PyTorch's meta kernels, which compute only sizes and dtypes, describe the results. They are
// allocated, and the CPU's kernel becomes a node of the graph: a replay calls it on the device's bytes and copies its
// results. Random operators get a generator of the replay.
// Operators whose results depend on values (sizes or numbers) can't be captured, and neither can host code on a device that
// needs copies: there the call throws, like a wait.

namespace openreg {

/// Records the CPU's kernel of `op` into the graph that the current stream is captured into, and puts its results in the place
/// of the arguments. `draws`: how many numbers it takes from its generator at most, 0 for none. Throws c10::AcceleratorError if it
/// can't be captured. The current device's kernels must reach its memory.
void capture_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack, uint64_t draws);

}  // namespace openreg
