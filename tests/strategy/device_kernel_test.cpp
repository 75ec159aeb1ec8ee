#include "strategy/device_kernel.h"

#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace openreg_gen {
namespace {

DeviceKernel kernel_of(const char* name) {
  const Op* op = installed().find(name);
  if (op == nullptr) throw std::runtime_error(name);
  static const DeviceKernels kKernels{
      find_kernel_language("opencl_c"), {"kernels/kernel"}, {}, {"_softmax.out", "cat.out"}};
  return device_kernel(kKernels, *op, OpItem(*op));
}

TEST(DeviceKernels, StructuredOnesWriteTheirOuts) {
  const DeviceKernel elu = kernel_of("elu.out");
  EXPECT_EQ(elu.kernel_params,
            "TensorInfo self_info, global const char* self, num_t alpha, num_t scale, num_t input_scale, "
            "TensorInfo out_info, global char* out");
  EXPECT_EQ(elu.kernel_args, "self, alpha, scale, input_scale, programs::OutputArgument(out)");
  EXPECT_EQ(elu.kernel_dtype, "self.scalar_type()");
  EXPECT_EQ(elu.kernel_value, "");
  EXPECT_EQ(kernel_of("topk.values").kernel_out, "values");
  EXPECT_EQ(kernel_of("maximum.out").kernel_dtype, "common_dtype()");
  EXPECT_NE(kernel_of("maximum.out").kernel_value, "");
}

TEST(DeviceKernels, OthersWriteThemselvesOrANewTensor) {
  EXPECT_EQ(kernel_of("hardtanh_").kernel_params,
            "TensorInfo self_info, global char* self, num_t min_val, num_t max_val");
  EXPECT_EQ(kernel_of("roll").kernel_args, "self, shifts, dims, programs::OutputArgument(out)");
  EXPECT_EQ(kernel_of("roll").kernel_inputs, std::vector<std::string>{"self"});
  EXPECT_EQ(kernel_of("repeat_interleave.Tensor").kernel_params,
            "TensorInfo repeats_info, global const char* repeats, int has_output_size, long output_size, "
            "TensorInfo out_info, global char* out");
}

TEST(DeviceKernels, NotOfWhatNoKernelTakes) {
  // Lists of tensors, texts, generators, several new tensors, and what the tree has a kernel for.
  for (const char* name : {"cat.out", "div.out_mode", "bernoulli.p", "unique_dim", "_softmax.out"})
    EXPECT_EQ(kernel_of(name).kernel_params, "") << name;
}

}  // namespace
}  // namespace openreg_gen
