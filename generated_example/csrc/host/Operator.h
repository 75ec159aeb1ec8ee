// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <utility>

#include "runtime/Export.h"

// Note [The operator that runs]
// When host code that replaces a kernel is refused or reported, its operator must be known, even in
// a DispatchStub's function or a loop. So OPENREG_IMPL of aten/Signature.h registers each kernel inside
// an OperatorScope, which costs two writes to a thread-local variable. Host code of a kernel that was registered in another
// way is reported as "unknown".

namespace openreg {

/// A kernel as it was registered. Static.
struct RegisteredKernel {
  const char* op;  // "aten::exp.out": the key of openreg.yaml, for the forms that follow from it, too
  const char* strategy;  // "in_tree"; "minimal" for those that come with the backend; may be empty
  bool moves = false;  // copies, converts or fills elements, and computes nothing
};

/// Host code that stands in for a kernel.
enum class HostCode {
  kCpuKernel,  // PyTorch's for the CPU
  kFunction,  // a C++ function of this backend
};

/// The kernel that this thread is in; null if it is in none.
OPENREG_RUNTIME_API extern constinit thread_local const RegisteredKernel* current_kernel;

/// Makes `kernel` the current one.
class OperatorScope {
 public:
  explicit OperatorScope(const RegisteredKernel& kernel) : outer_(std::exchange(current_kernel, &kernel)) {}
  ~OperatorScope() { current_kernel = outer_; }
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  const RegisteredKernel* outer_;
};

}  // namespace openreg
