// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include "aten/native/StubDetour.h"

#include <ATen/ops/empty_strided.h>

namespace openreg::native {
namespace {

/// The same values on the host, with the same strides: the function must meet the iteration it would meet
/// here.
at::Tensor host_copy(const at::Tensor& tensor) {
  at::Tensor host = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
  host.copy_(tensor);
  return host;
}

at::TensorIterator host_iterator(at::TensorIteratorBase& device) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false).resize_outputs(false);
  for (int i = 0; i < device.ntensors(); ++i) {
    const at::Tensor& tensor = device.tensor(i);
    if (i < device.noutputs()) {
      config.add_owned_output(host_copy(tensor));
    } else {
      config.add_owned_input(host_copy(tensor));
    }
  }
  return config.build();
}

}  // namespace

HostIterator::HostIterator(at::TensorIteratorBase& device) : device_(device), host_(host_iterator(device)) {}

void HostIterator::write_back() {
  for (int i = 0; i < device_.noutputs(); ++i) {
    device_.tensor(i).copy_(host_.tensor(i));
  }
}

}  // namespace openreg::native
