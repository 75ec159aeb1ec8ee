// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <string>
#include <unordered_map>
#include <utility>

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/serialization/pickler_helper.h>

#include "fixture.h"
#include "runtime/Serialization.h"

namespace openreg::test {

namespace {

// Without an operator, so that this tests the runtime alone.
at::Tensor make_tensor() {
  c10::DeviceAllocator* const allocator = getDeviceAllocator();
  c10::Storage storage(c10::Storage::use_byte_size_t(), 16, allocator->allocate(16), allocator, true);
  return at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), caffe2::TypeMeta::Make<float>());
}

TEST_F(DeviceTest, PlainTensorsWriteNothing) {
  const at::Tensor tensor = make_tensor();
  EXPECT_FALSE(is_calibrated(tensor));
  EXPECT_TRUE(torch::jit::getTensorMetadata(tensor).empty());
}

TEST_F(DeviceTest, MetadataIsSavedAndLoaded) {
  const at::Tensor saved = make_tensor();
  set_calibrated(saved, true);
  const std::unordered_map<std::string, bool> written = torch::jit::getTensorMetadata(saved);
  EXPECT_EQ(written, (std::unordered_map<std::string, bool>{{"openreg_calibrated", true}}));
  const at::Tensor loaded = make_tensor();
  torch::jit::setTensorMetadata(loaded, written);
  EXPECT_TRUE(is_calibrated(loaded));
}

TEST_F(DeviceTest, ShallowCopiesHaveMetadataOfTheirOwn) {
  const at::Tensor tensor = make_tensor();
  set_calibrated(tensor, true);
  const at::Tensor copy(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(c10::VariableVersion(0), true));
  EXPECT_TRUE(is_calibrated(copy));
  set_calibrated(copy, false);
  EXPECT_TRUE(is_calibrated(tensor));
}

TEST_F(DeviceTest, OnlyTensorsOfTheDeviceHaveIt) {
  const at::Tensor cpu;
  EXPECT_THROW(set_calibrated(cpu, true), c10::Error);
}

}  // namespace

}  // namespace openreg::test
