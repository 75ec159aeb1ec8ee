// PyTorch's device-generic kernels and the DispatchStubs through which they reach a device: declarations, callers, and
// those that a backend can serve. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct Stub {
  std::string_view name;     // "abs_stub", in at::native
  std::string_view family;   // "UnaryOps": declared in ATen/native/UnaryOps.h
  std::string_view fn_type;  // as declared there: "unary_fn"; empty where the type has no name

  std::string header() const { return "ATen/native/" + std::string(family) + ".h"; }
  /// Operands of other dtypes are converted to the common one.
  bool promotes() const;
};

/// Null for a stub that no table of operators names.
const Stub* declared_stub(std::string_view name);

/// The stubs that a kernel shared by PyTorch's devices calls, "gather_expanded_index_stub gather_stub", sorted. Only
/// machine code shows them; scripts/stub_calls.py explains how it reads it, and which operators it leaves out. Empty if
/// the kernel only calls other operators; null for an operator without such a kernel, and for one that is left out.
const std::string* find_in_tree_stubs(std::string_view op);
/// The same, as they are declared.
std::optional<std::vector<Stub>> in_tree_stubs(std::string_view op);

/// For `op`, an out= form that is not structured: the strides, as a C++ expression, of the functional form's result for
/// a contiguous, real `self`, if that result has the sizes and dtype of `self`, so that the kernel doesn't have to
/// resize it. Empty otherwise.
std::string_view strides_of_result_like_self(std::string_view op);

/// How the kernel of `op` changes `self` if it is on the CPU, which it checks by device type, as a C++ expression;
/// empty if it doesn't.
std::string_view self_as_on_the_cpu(std::string_view op);

/// The operators that a backend can serve by a stub, so that PyTorch's own out kernel runs on its device; sorted:
/// elementwise ones whose out kernel is the same function for CPU and CUDA in native_functions.yaml and ends in one
/// stub over a TensorIterator, with scalars at most. No two share a stub. One is a choice, not a kernel:
/// _fused_sdp_choice, whose stub F.scaled_dot_product_attention calls for each device.
std::span<const std::string_view> stub_ops();
/// Null for other operators.
const Stub* find_stub(std::string_view op);

}  // namespace openreg_gen
