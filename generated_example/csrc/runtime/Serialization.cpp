// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Serialization.h"

#include <string>
#include <unordered_map>
#include <utility>

#include <torch/csrc/jit/serialization/pickler_helper.h>

namespace openreg {

namespace {

using Metadata = std::unordered_map<std::string, bool>;

constexpr const char* kCalibrated = "openreg_calibrated";

void save(const at::Tensor& tensor, Metadata& metadata) {
  if (is_calibrated(tensor)) {  // defaults aren't written, so files of plain tensors stay readable elsewhere
    metadata[kCalibrated] = true;
  }
}

void load(const at::Tensor& tensor, Metadata& metadata) {
  const auto found = metadata.find(kCalibrated);
  if (found != metadata.end()) {
    set_calibrated(tensor, found->second);
  }
}

const bool serialization_registered = [] {
  torch::jit::TensorBackendMetaRegistry(c10::DeviceType::PrivateUse1, save, load);
  return true;
}();

}  // namespace

c10::intrusive_ptr<c10::BackendMeta> OpenRegBackendMeta::clone(const c10::intrusive_ptr<c10::BackendMeta>&) const {
  auto copy = c10::make_intrusive<OpenRegBackendMeta>();
  copy->calibrated = calibrated;
  return copy;
}

void set_calibrated(const at::TensorBase& tensor, bool calibrated) {
  TORCH_CHECK(tensor.device().is_privateuseone(), "expected a tensor on openreg, got one on ", tensor.device());
  auto meta = c10::make_intrusive<OpenRegBackendMeta>();
  meta->calibrated = calibrated;
  tensor.unsafeGetTensorImpl()->set_backend_meta(std::move(meta));
}

bool is_calibrated(const at::TensorBase& tensor) {
  const auto* meta = dynamic_cast<const OpenRegBackendMeta*>(tensor.unsafeGetTensorImpl()->get_backend_meta());
  return meta != nullptr && meta->calibrated;
}

}  // namespace openreg
