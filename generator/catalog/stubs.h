// PyTorch's device-generic kernels and the DispatchStubs through which they reach a device: how they are declared, who
// calls them, and which a backend can serve. Pure functions.
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

/// Which stubs a kernel calls that PyTorch's devices share, "gather_expanded_index_stub gather_stub", sorted: machine
/// code alone says it. scripts/stub_calls.py says how it is read, and which operators are left out. Empty if it is made
/// of other operators alone; null for an operator without such a kernel, and for one that is left out.
const std::string* find_in_tree_stubs(std::string_view op);
/// The same, as they are declared.
std::optional<std::vector<Stub>> in_tree_stubs(std::string_view op);

/// The strides, as an expression of C++, of what the functional form of `op`, an out= form that is not structured,
/// makes of a contiguous `self` of no complex numbers: a tensor with the sizes and dtype of `self`, which such a form
/// need not leave to the kernel to resize. Empty if what it makes is another.
std::string_view strides_of_result_like_self(std::string_view op);

/// What the kernel of `op` makes of `self` where that is on the CPU, asked by the type of its device, as an expression
/// of C++; empty if nothing.
std::string_view self_as_on_the_cpu(std::string_view op);

/// The operators that a backend can serve by a stub, so that PyTorch's own out kernel runs on its device; sorted:
/// elementwise ones whose out kernel is the same function for CPU and CUDA in native_functions.yaml and ends in one
/// stub over a TensorIterator, with scalars at most. No two share a stub. One is no kernel but a choice:
/// _fused_sdp_choice, which F.scaled_dot_product_attention asks of each device by its stub.
std::span<const std::string_view> stub_ops();
/// Null if `op` is none of them.
const Stub* find_stub(std::string_view op);

}  // namespace openreg_gen
