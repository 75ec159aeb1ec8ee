// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/core/TensorBase.h>
#include <c10/core/TensorImpl.h>

#include "runtime/Export.h"

// Note [Backend metadata]
// A device may need data about a tensor that PyTorch has no field for. c10::BackendMeta attaches such data to a
// TensorImpl without a subclass, and the pair of functions that Serialization.cpp registers writes it to files and
// reads it back (torch.save, torch.jit.save). PyTorch stores booleans, by name; names carry the backend's, since
// "conj" and "neg" are taken. Without the registration, torch.load returns tensors without it.
//
// The worked example is one flag, `calibrated`: the values were adjusted for this device. A tensor without metadata
// isn't calibrated, and writes nothing.
//
// Ownership: the TensorImpl owns its metadata; a shallow copy of the tensor gets a copy of it.
// Threads: as for the tensor.

namespace openreg {

struct OPENREG_RUNTIME_API OpenRegBackendMeta final : c10::BackendMeta {
  bool calibrated = false;

  /// A copy, so that a change to a shallow copy doesn't show in the original.
  c10::intrusive_ptr<c10::BackendMeta> clone(const c10::intrusive_ptr<c10::BackendMeta>& self) const override;
};

/// Marks `tensor`. Throws c10::Error unless it is on the device.
OPENREG_RUNTIME_API void set_calibrated(const at::TensorBase& tensor, bool calibrated);

/// Whether set_calibrated(tensor, true) was called, here or before it was saved.
OPENREG_RUNTIME_API bool is_calibrated(const at::TensorBase& tensor);

}  // namespace openreg
