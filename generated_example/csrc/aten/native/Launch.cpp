// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "aten/native/Launch.h"

#include "runtime/Functions.h"

namespace openreg::native {

bool kernels_reach_memory() {
  // Devices of one driver are alike in this; asking each time would cost more than a small kernel.
  static const bool reach = device_properties(current_device()).hostAccessible != 0;
  return reach;
}

Staging::Staging(c10::ArrayRef<Operand> operands) : operands_(operands.begin(), operands.end()) {
  getCurrentStream().synchronize();
  for (const Operand& operand : operands_) {
    copies_.push_back(std::make_unique<char[]>(operand.bytes));
    pointers_.push_back(copies_.back().get());
    if (operand.bytes != 0) {
      OPENREG_CHECK(
          orMemcpy(copies_.back().get(), operand.data, operand.bytes, orMemcpyDeviceToHost));
    }
  }
}

void Staging::write_back() {
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].written && operands_[i].bytes != 0) {
      OPENREG_CHECK(
          orMemcpy(operands_[i].data, copies_[i].get(), operands_[i].bytes, orMemcpyHostToDevice));
    }
  }
}

}  // namespace openreg::native
