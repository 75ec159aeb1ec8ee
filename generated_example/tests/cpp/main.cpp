// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <gtest/gtest.h>

#include <c10/core/DeviceType.h>

int main(int argc, char** argv) {
  // What torch.utils.rename_privateuse1_backend does in Python.
  c10::register_privateuse1_backend("openreg");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
