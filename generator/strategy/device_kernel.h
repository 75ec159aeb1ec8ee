// The starting code of `native` and `structured` if the device has its own language: an owned kernel in that language,
// and its launcher. Texts for kernels/kernel.* of the language and the operator's C++ file.
#pragma once

#include "strategy/item.h"

#include <string>

namespace openreg_gen {

struct DeviceKernel {
  std::string kernel_params;  // "TensorInfo self_info, global const char* self, long dim"; empty: no kernel
  std::string kernel_args;    // of programs::call_kernel() after the count: "self, dim, OutputArgument(out)"
  std::string kernel_dtype;   // the dtype that the kernel is built for: "self.scalar_type()"
  std::vector<std::string> kernel_inputs;  // tensors that it reads and that are always there
  std::string kernel_out;                  // the first tensor that it writes
  std::string kernel_value;                // an element of it; empty: the kernel is yet to be written
  void print(Fields out) const {
    PRINT_FIELDS(out, kernel_params, kernel_args, kernel_dtype, kernel_inputs, kernel_out, kernel_value);
  }
};

/// For an operator that writes into an argument or returns one new tensor (passed as an additional `out`). None if the
/// language can't express an argument, such as a list of tensors or a generator, or if the tree has a kernel already.
DeviceKernel device_kernel(const DeviceKernels& kernels, const Op& op, const OpItem& item);

}  // namespace openreg_gen
