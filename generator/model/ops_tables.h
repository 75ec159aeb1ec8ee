// What is known of operators beyond the catalogue: small tables. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace openreg_gen {

/// With what a kernel of this operator starts: a loop, as an example; no expression: a detour through the CPU.
struct Starter {
  std::string expression;
  std::string dispatch;  // arguments of AT_DISPATCH_V2 after the body
};
Starter starter(std::string_view op);

/// Parameters of a DispatchStub's function. Throws std::out_of_range on a type that stubs.cpp doesn't use.
struct StubSignature {
  std::string params;  // "at::TensorIteratorBase& iter, const at::Scalar& a"
  std::string args;    // "iter, a"
};
StubSignature stub_signature(std::string_view fn_type);

}  // namespace openreg_gen
