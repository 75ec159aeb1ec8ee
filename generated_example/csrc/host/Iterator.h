// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include "host/Tensors.h"

namespace openreg::native {

/// What a function of the host does with what it is given.
struct Effects {
  bool promotes = false;  // its iterators: see CpuIterator
  bool writes_inputs = true;  // it may write what it takes as a constant tensor
  bool reads_outputs = true;  // it may read its outputs, or leave some of their elements as they are
};

/// A TensorIterator over tensors of the CPU, in the shape of one of the device. If the function promotes, operands are converted
/// to the common dtype where they differ, as iterators of the CPU do it themselves.
class CpuIterator {
 public:
  struct Operand {
    at::Tensor tensor;
    bool number = false;  // a 0-dim tensor of the CPU that the device's iterator had
  };
  /// Outputs come first. `common`: the dtype that the function promotes to, or Undefined.
  CpuIterator(c10::ArrayRef<Operand> operands, size_t outputs, at::ScalarType common, bool reduction);
  at::TensorIterator& get() { return iter_; }
  /// After the function ran.
  void finish();

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> casts_;  // operand, what is computed in its place
  at::TensorIterator iter_;
};

/// A TensorIterator of the device on the host's tensors: its operands are added to `host`, and found there after the fetch().
class HostIterator {
 public:
  HostIterator(at::TensorIteratorBase& device, HostTensors& host, const Effects& effects);
  at::TensorIterator& get(HostTensors& host);
  void finish() { iter_->finish(); }

 private:
  size_t outputs_;
  at::ScalarType common_;
  bool reduction_ = false;
  c10::SmallVector<CpuIterator::Operand, 3> operands_;
  std::unique_ptr<CpuIterator> iter_;
};

/// The dtype that a function which promotes computes in.
at::ScalarType common_dtype(at::TensorIteratorBase& iter, const Effects& effects);

}  // namespace openreg::native
