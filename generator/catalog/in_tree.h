// PyTorch's device-generic kernels and the DispatchStubs through which they reach a device. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct DispatchStub {
  std::string name;    // "add_stub", in at::native
  std::string family;  // "BinaryOps": declared in ATen/native/BinaryOps.h
  bool promotes;       // operands of other dtypes are converted to the common one
};

/// What the kernel that `op` shares between PyTorch's own devices calls, sorted; empty if it is made of other operators
/// alone. Nothing if that is not known.
std::optional<std::vector<DispatchStub>> in_tree_stubs(std::string_view op);

/// The strides, as an expression of C++, of what the functional form of `op`, an out= form that is not structured,
/// makes of a contiguous `self` of no complex numbers: a tensor with the sizes and dtype of `self`, which such a form
/// need not leave to the kernel to resize. Empty if what it makes is another.
std::string_view strides_of_result_like_self(std::string_view op);

/// What the kernel of `op` makes of `self` where that is on the CPU, asked by the type of its device, as an expression of
/// C++; empty if nothing.
std::string_view self_as_on_the_cpu(std::string_view op);

/// The stub of that name, one that a table of operators has.
DispatchStub dispatch_stub(const std::string& name);

}  // namespace openreg_gen
