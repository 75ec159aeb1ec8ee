// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <optional>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "aten/FallbackReport.h"

// The two ways to run a CPU kernel in place of the device's; Fallback.cpp chooses. See Note [Falling back to the CPU].

namespace openreg {

/// The device of the tensors among the arguments; none if there are none. Throws as PyTorch does if they are on several,
/// where a 0-dim CPU tensor counts as a number.
std::optional<c10::Device> common_device(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// Whether the operator returns a view of an argument.
bool returns_view(const c10::FunctionSchema& schema);

/// The tensors among the arguments that the operator writes.
std::vector<at::Tensor> written_tensors(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/// Runs the CPU kernel on copies of the arguments.
void run_on_copies(const c10::OperatorHandle& op, torch::jit::Stack* stack, FallbackScope& scope);

/// Runs the CPU kernel on the memory of `device`, the current one, and waits for it. New results are copied into device
/// memory, once.
void run_on_aliases(
    const c10::OperatorHandle& op, torch::jit::Stack* stack, c10::Device device, FallbackScope& scope);

}  // namespace openreg
