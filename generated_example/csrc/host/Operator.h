// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <string_view>
#include <type_traits>
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

/// Registers `kernel`, which is static, as that of `op`, a literal. While the library is loaded.
OPENREG_RUNTIME_API void note_kernel(const char* op, const RegisteredKernel& kernel);

/// The kernel of an operator; null if it has none.
OPENREG_RUNTIME_API const RegisteredKernel* noted_kernel(std::string_view op);

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

/// `fn` inside an OperatorScope of its own.
template <const RegisteredKernel& kernel, auto* fn, class Fn = std::remove_pointer_t<decltype(fn)>>
struct NamedKernel;
template <const RegisteredKernel& kernel, auto* fn, class R, class... Params>
struct NamedKernel<kernel, fn, R(Params...)> {
  static R call(Params... params) {
    const OperatorScope scope(kernel);
    return fn(std::forward<Params>(params)...);
  }
};

/// What OPENREG_IMPL passes on about a kernel: its strategy; for a form that follows from another operator's kernel, that operator first.
constexpr RegisteredKernel registered_kernel(const char* op, const char* strategy = "") { return {op, strategy}; }
constexpr RegisteredKernel registered_kernel(const char*, const char* op, const char* strategy) { return {op, strategy}; }

}  // namespace openreg

// clang-format off: a name's length must not move the macros' backslashes

/// What aten/Signature.h does to register a kernel: registered_kernel() takes the arguments that follow it.
#define OPENREG_NOTE_KERNEL(NAME, ...) \
    static constexpr ::openreg::RegisteredKernel kKernel = ::openreg::registered_kernel("aten::" NAME __VA_OPT__(, ) __VA_ARGS__); \
    ::openreg::note_kernel("aten::" NAME, kKernel)
#define OPENREG_REGISTER(M, NAME, OP, FN, ...) \
  do { \
    OPENREG_NOTE_KERNEL(NAME __VA_OPT__(, ) __VA_ARGS__); \
    ::openreg::implement<OP, &::openreg::NamedKernel<kKernel, FN>::call>(M, NAME); \
  } while (false)

// clang-format on
